/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Retrieves pictures similar to a frame from an index, on the CPU, on the GPU,
 * or on both. Functions that can fail return NULL or an error. */
#ifndef CUV_LDP_RETRIEVAL_H
#define CUV_LDP_RETRIEVAL_H

#include "cpu/ldp-match.h"
#include "cuvbackend.h"

enum { CUV_LDP_MAX_MATCHES = 10000 };

/* The number of orientations in which a picture is compared, those of
 * cuv_ldp_turn() from 0 on. For each entry the most similar one counts. */
enum {
  CUV_LDP_UPRIGHT = 1,
  CUV_LDP_MIRRORED = 2,
  CUV_LDP_ALL_ORIENTATIONS = 8, /* also turned by 90, 180 and 270 degrees */
};

typedef struct {
  CuvFrame frame;
  CuvLdpRect rect;  /* inside the frame */
  int k;            /* maximum number of matches, 1 .. CUV_LDP_MAX_MATCHES */
  double threshold; /* minimum similarity of a match */
  int orientations; /* CUV_LDP_UPRIGHT or another one of these */
  double share; /* fraction of the entries that the CPU compares while the GPU
                 * compares the others; below 0: balanced, so that both take the
                 * same time */

  /* results */
  const CuvLdpMatch *matches; /* the most similar first; valid until the next
                               * run */
  int n_matches;
  uint64_t n_on_cpu; /* entries that the CPU compared */
  float describe_us, match_us;
} CuvLdpQuery;

typedef struct _CuvLdpRetrieval CuvLdpRetrieval;

/* Creates a retrieval that compares frames like this one with the first n
 * entries of the index, which must outlive the retrieval. On the device at most
 * max_bytes are used for entries, 0 = half of the free memory; the other
 * entries are copied for each query. Returns NULL on failure, and *error says
 * why. */
CuvLdpRetrieval *cuv_ldp_retrieval_new (const CuvLdpIndex *index, uint64_t n,
    size_t max_bytes, const CuvFrame *frame, const CuvProcessor *processor,
    const char **error);

/* NULL is allowed. If it was created for the GPU, its CUDA context must be
 * current. */
void cuv_ldp_retrieval_free (CuvLdpRetrieval *self);

/* Whether self was made for these arguments and has the entries; self may be
 * NULL. */
bool cuv_ldp_retrieval_matches (const CuvLdpRetrieval *self,
    const CuvLdpIndex *index, size_t max_bytes, const CuvProcessor *processor);

/* Call after the index was refreshed: queries are then compared with its first
 * n entries; after an error, with none. */
const char *cuv_ldp_retrieval_set_entries (
    CuvLdpRetrieval *self, uint64_t n, const CuvProcessor *processor);

/* Finds the entries most similar to the query's frame: sets its results. */
const char *cuv_ldp_retrieval_run (
    CuvLdpRetrieval *self, CuvLdpQuery *query, const CuvProcessor *processor);

#endif
