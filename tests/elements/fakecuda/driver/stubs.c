/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Symbols that libgstcuda's loader requires but nothing here calls:
 * modules, textures and OpenGL. */
#define STUB(name)                                                             \
  __attribute__ ((visibility ("default"))) int name (void);                    \
  int name (void)                                                              \
  {                                                                            \
    return 801; /* CUDA_ERROR_NOT_SUPPORTED */                                 \
  }

STUB (cuGLGetDevices_v2)
STUB (cuGraphicsGLRegisterBuffer)
STUB (cuGraphicsGLRegisterImage)
STUB (cuGraphicsMapResources)
STUB (cuGraphicsResourceGetMappedPointer_v2)
STUB (cuGraphicsResourceSetMapFlags_v2)
STUB (cuGraphicsSubResourceGetMappedArray)
STUB (cuGraphicsUnmapResources)
STUB (cuGraphicsUnregisterResource)
STUB (cuLaunchKernel)
STUB (cuModuleGetFunction)
STUB (cuModuleLoadData)
STUB (cuModuleUnload)
STUB (cuTexObjectCreate)
STUB (cuTexObjectDestroy)
