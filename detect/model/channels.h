/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads and writes models of trees on channels as XML, which
 * docs/definitions/channels.md defines. */
#ifndef CUV_MODEL_CHANNELS_H
#define CUV_MODEL_CHANNELS_H

#include "channels/trees.h"
#include "waldboost/waldboost-types.h"

#define CUV_CHANNELS_ROOT "CuvisionChannels"
#define CUV_CHANNELS_TREE "tree"
#define CUV_CHANNELS_NO_THRESHOLD "none"

enum {
  CUV_CHANNELS_MIN_SIDE = 8, /* pixels; smallest side of a window */
  CUV_CHANNELS_MAX_SIDE = 256,
  CUV_CHANNELS_MAX_LEVELS = 64, /* maximum number of levels per octave */
};

/* Returns whether a text of `size` bytes is XML with the root of such a
 * model. */
bool cuv_channels_is_model (const char *text, size_t size);

/* Parses a model; free it with cuv_channels_model_free(). On failure, returns
 * NULL and sets *error to "line N: reason", one line of UTF-8, which the caller
 * passes to free(). */
CuvChannelsModel *cuv_channels_model_parse (
    const char *bytes, size_t size, char **error);
/* NULL is allowed. */
CUV_API void cuv_channels_model_free (CuvChannelsModel *self);

/* Returns a copy with arrays of its own. */
CUV_API CuvChannelsModel *cuv_channels_model_copy (
    const CuvChannelsModel *self);

/* Returns the model as XML, which the caller passes to free(), or NULL if
 * memory runs out. comment: a text without "--". */
CUV_API char *cuv_channels_model_write (
    const CuvChannelsModel *self, const char *comment);

#endif
