/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Symbols that libgstcuda's loader requires but nothing here calls: modules,
 * textures, OpenGL, and since 1.24 events, other processes' memory and more
 * copies. The loader does not require the symbols of virtual memory and of
 * stream-ordered allocation. */
#define STUB(name)                                                             \
  __attribute__ ((visibility ("default"))) int name (void);                    \
  int name (void)                                                              \
  {                                                                            \
    return 801; /* CUDA_ERROR_NOT_SUPPORTED */                                 \
  }

STUB (cuCtxGetLimit)
STUB (cuCtxSetLimit)
STUB (cuCtxSynchronize)
STUB (cuDestroyExternalMemory)
STUB (cuDestroyExternalSemaphore)
STUB (cuDeviceGetUuid)
STUB (cuEventCreate)
STUB (cuEventDestroy_v2)
STUB (cuEventRecord)
STUB (cuEventSynchronize)
STUB (cuExternalMemoryGetMappedBuffer)
STUB (cuExternalMemoryGetMappedMipmappedArray)
STUB (cuGLGetDevices_v2)
STUB (cuGraphicsGLRegisterBuffer)
STUB (cuGraphicsGLRegisterImage)
STUB (cuGraphicsMapResources)
STUB (cuGraphicsResourceGetMappedPointer_v2)
STUB (cuGraphicsResourceSetMapFlags_v2)
STUB (cuGraphicsSubResourceGetMappedArray)
STUB (cuGraphicsUnmapResources)
STUB (cuGraphicsUnregisterResource)
STUB (cuImportExternalMemory)
STUB (cuImportExternalSemaphore)
STUB (cuIpcCloseMemHandle)
STUB (cuIpcGetEventHandle)
STUB (cuIpcGetMemHandle)
STUB (cuIpcOpenEventHandle)
STUB (cuIpcOpenMemHandle)
STUB (cuLaunchKernel)
STUB (cuMemcpyDtoDAsync_v2)
STUB (cuMemcpyDtoD_v2)
STUB (cuMemcpyDtoHAsync_v2)
STUB (cuMemcpyDtoH_v2)
STUB (cuMemcpyHtoDAsync_v2)
STUB (cuMemcpyHtoD_v2)
STUB (cuMemsetD2D16Async)
STUB (cuMemsetD2D16_v2)
STUB (cuMemsetD2D32Async)
STUB (cuMemsetD2D32_v2)
STUB (cuMemsetD2D8Async)
STUB (cuMemsetD2D8_v2)
STUB (cuModuleGetFunction)
STUB (cuModuleLoadData)
STUB (cuModuleUnload)
STUB (cuSignalExternalSemaphoresAsync)
STUB (cuTexObjectCreate)
STUB (cuTexObjectDestroy)
STUB (cuWaitExternalSemaphoresAsync)
