/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Describes frames on the CPU or on the GPU. Functions that can fail return
 * NULL or an error. */
#ifndef CUV_LDP_BACKEND_H
#define CUV_LDP_BACKEND_H

#include "cuvbackend.h"
#include "ldp.h"

/* The job of a CuvLdpDescriptor's backend: sets the counts, and draws codes
 * over the rectangle. */
typedef struct {
  CuvFrame frame;  /* writable if draw is set */
  CuvLdpRect rect; /* inside the frame */
  int draw; /* direction of the codes to draw, CUV_LDP_DIRECTIONS: none */
  /* cuv_ldp_n_counts() of cuv_ldp_count_size() bytes, valid until the next
   * run */
  const void *counts;
} CuvLdpDescription;

/* Closed if zero-initialised; cuv_backend_close() closes its backend. */
typedef struct {
  CuvLdpLayout layout;
  CuvBackend backend;
} CuvLdpDescriptor;

/* Opens self for frames like this one. After an error, the backend that was
 * open stays open. */
const char *cuv_ldp_descriptor_open (CuvLdpDescriptor *self,
    const CuvLdpLayout *layout, const CuvFrame *frame,
    const CuvProcessor *processor);

/* Whether self is open for these arguments. */
bool cuv_ldp_descriptor_matches (const CuvLdpDescriptor *self,
    const CuvLdpLayout *layout, const CuvProcessor *processor);

#endif
