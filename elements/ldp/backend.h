/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Descriptors of frames, and retrieval of similar pictures from an index, on
 * the CPU or on the GPU. Functions that can fail return NULL or an error. */
#ifndef CUV_LDP_BACKEND_H
#define CUV_LDP_BACKEND_H

#include "cpu/ldp-match.h"
#include "cuvbackend.h"

/* ---- descriptors ---- */

/* All zeros are a closed one. */
typedef struct {
  CuvLdpLayout layout;
  CuvBackend backend;
} CuvLdpDescriptor;

typedef struct {
  CuvFrame frame;  /* writable if draw is set */
  CuvLdpRect rect; /* inside the frame */
  int draw; /* direction of the codes to draw, CUV_LDP_DIRECTIONS: none */
  /* cuv_ldp_n_counts() of cuv_ldp_count_size() bytes, until the next run */
  const void *counts;
} CuvLdpDescription;

/* For frames like this one. After an error, what was open stays so. */
const char *cuv_ldp_descriptor_open (CuvLdpDescriptor *self,
    const CuvLdpLayout *layout, const CuvFrame *frame,
    const CuvProcessor *processor);

/* On the device the context that it was opened in must be current. */
void cuv_ldp_descriptor_close (CuvLdpDescriptor *self);

/* Whether self is open for these arguments. */
bool cuv_ldp_descriptor_matches (const CuvLdpDescriptor *self,
    const CuvLdpLayout *layout, const CuvProcessor *processor);

/* Sets the counts, and draws codes over the rectangle. */
const char *cuv_ldp_descriptor_run (CuvLdpDescriptor *self,
    CuvLdpDescription *description, const CuvProcessor *processor);

/* ---- retrieval ---- */

enum { CUV_LDP_MAX_MATCHES = 10000 };

typedef struct {
  CuvFrame frame;
  CuvLdpRect rect;  /* inside the frame */
  int k;            /* most matches, 1 .. CUV_LDP_MAX_MATCHES */
  double threshold; /* least similarity of a match */
  double share; /* of entries that the CPU compares while the GPU compares the
                 * others; below 0: so that both take as long */

  /* results */
  const CuvLdpMatch *matches; /* the most similar first; until the next run */
  int n_matches;
  uint64_t n_on_cpu; /* entries that the CPU compared */
  float describe_us, match_us;
} CuvLdpQuery;

typedef struct _CuvLdpRetrieval CuvLdpRetrieval;

/* Compares frames like this one with the first n entries of the index, which
 * must live as long. On the device as many entries stay there as max_bytes
 * hold, 0 = half of the free memory. NULL on failure, and *error says why. */
CuvLdpRetrieval *cuv_ldp_retrieval_new (const CuvLdpIndex *index, uint64_t n,
    size_t max_bytes, const CuvFrame *frame, const CuvProcessor *processor,
    const char **error);

/* NULL is allowed. On the device the context that it was made in must be
 * current. */
void cuv_ldp_retrieval_free (CuvLdpRetrieval *self);

/* Whether self was made for these arguments; self may be NULL. */
bool cuv_ldp_retrieval_matches (const CuvLdpRetrieval *self,
    const CuvLdpIndex *index, size_t max_bytes, const CuvProcessor *processor);

/* After the index was refreshed: compares with its first n entries from now on,
 * after an error with none. */
const char *cuv_ldp_retrieval_set_entries (
    CuvLdpRetrieval *self, uint64_t n, const CuvProcessor *processor);

/* Allocates only if k grows. */
const char *cuv_ldp_retrieval_run (
    CuvLdpRetrieval *self, CuvLdpQuery *query, const CuvProcessor *processor);

#endif
