/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading a detector's model from the bytes of a file. */
#ifndef CUV_WALDBOOST_MODEL_H
#define CUV_WALDBOOST_MODEL_H

#include <stddef.h>
#include "waldboost/waldboost-types.h"

/* Limits of what is read; more is refused. */
#define CUV_MODEL_MAX_BYTES (64 << 20)
#define CUV_MODEL_MAX_DEPTH 32    /* of nested XML elements */
#define CUV_MODEL_MAX_WINDOW 1024 /* pixels, each side */
#define CUV_MODEL_MAX_STAGES 4096
#define CUV_MODEL_MAX_NODES (1 << 16) /* in the whole model */
#define CUV_MODEL_MAX_FEATURES (1 << 16)

/* The model in the given bytes of an OpenCV cascade XML file with LBP features.
 * What it is shows from its content, not from a name. Free it with
 * cuv_model_unref(). On failure returns NULL and sets *error to "line N:
 * reason" in plain words, without a newline: free() it. */
const CuvWaldboostModel *cuv_model_parse (
    const char *bytes, size_t size, char **error);

/* A model does not change, so any number of threads may share it. */
const CuvWaldboostModel *cuv_model_ref (const CuvWaldboostModel *model);
void cuv_model_unref (const CuvWaldboostModel *model); /* NULL is allowed */

#endif
