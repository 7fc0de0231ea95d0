/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares frames with the pictures of an index in one place: the CPU's half,
 * or the GPU's, which the CPU may help, behind the same calls. */
#ifndef CUV_LDP_RETRIEVER_H
#define CUV_LDP_RETRIEVER_H

#include "describer.h"
#include "cpu/ldp-match.h"

enum { CUV_RETRIEVER_MAX_K = 10000 };

typedef struct {
  int k;            /* 1 .. CUV_RETRIEVER_MAX_K */
  double threshold; /* least similarity of a match */
  double share;     /* of entries that the CPU compares for the GPU; below 0: as
                     * many as it takes for both to take as long */
} CuvRetrieval;

typedef struct {
  const CuvLdpMatch *matches; /* the most alike first; until the next run */
  int n_matches;
  uint64_t n_on_cpu; /* entries that the CPU compared */
  float describe_us, match_us;
} CuvRetrieved;

typedef struct _CuvRetriever CuvRetriever;

/* For pictures as in the index, which must live as long, and comparing with its
 * first n. On the device it keeps
 * what max_bytes hold of them there, 0 = half of what is free, and is run once
 * on the frame. NULL and *problem says what went wrong. */
CuvRetriever *cuv_retriever_new (CuvLdpIndex *index, uint64_t n,
    const CuvFrame *frame, bool on_device, size_t max_bytes, void *stream,
    const char **problem);

/* NULL is allowed. On the device the context that it was made in must be
 * current. */
void cuv_retriever_free (CuvRetriever *self);

/* Whether it would be made just so again. */
bool cuv_retriever_is_for (const CuvRetriever *self, const CuvLdpIndex *index,
    bool on_device, size_t max_bytes);

/* Compares with the first n pictures of the index from now on; after the index
 * was refreshed, or has moved. Returns NULL, or what went wrong: then there are
 * none. */
const char *cuv_retriever_set_entries (
    CuvRetriever *self, uint64_t n, void *stream);

/* Compares a rectangle of a frame with all of them. Returns NULL, or what went
 * wrong. */
const char *cuv_retriever_run (CuvRetriever *self, const CuvFrame *frame,
    const CuvLdpRect *rect, const CuvRetrieval *how, void *stream,
    int n_threads, CuvRetrieved *retrieved);

#endif
