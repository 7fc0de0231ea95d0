/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Symbols of our libraries are hidden, except for those marked CUV_API. */
#ifndef CUV_API_H
#define CUV_API_H

/* Exports a function. */
#define CUV_API __attribute__ ((visibility ("default")))

#ifdef __cplusplus
#define CUV_BEGIN extern "C" {
#define CUV_END }
#else
/* Before declarations with C linkage. */
#define CUV_BEGIN
/* After declarations with C linkage. */
#define CUV_END
#endif

/* A function that gcc compiles for the CPU, and nvcc for host and device. */
#ifdef __CUDACC__
#define CUV_HOST_DEVICE static inline __host__ __device__
#else
#define CUV_HOST_DEVICE static inline
#endif

#endif
