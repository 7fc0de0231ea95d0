/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads and writes models of trees on channels: XML, as
 * docs/definitions/channels.md defines it. */
#ifndef CUV_MODEL_CHANNELS_H
#define CUV_MODEL_CHANNELS_H

#include "channels/trees.h"
#include "waldboost/waldboost-types.h"

#define CUV_CHANNELS_ROOT "CuvisionChannels"
#define CUV_CHANNELS_TREE "tree"
#define CUV_CHANNELS_NO_THRESHOLD "none"

enum {
  CUV_CHANNELS_MIN_SIDE = 8, /* smallest side of a window, pixels */
  CUV_CHANNELS_MAX_SIDE = 256,
  CUV_CHANNELS_MAX_LEVELS = 64, /* levels per octave */
};

/* Whether a text is XML with the root of such a model; size: its bytes. */
bool cuv_channels_is_model (const char *text, size_t size);

/* Free the model with cuv_channels_model_free(). On failure returns NULL and
 * sets *error to "line N: reason", one line of UTF-8; free() it. */
CuvChannelsModel *cuv_channels_model_parse (
    const char *bytes, size_t size, char **error);
void cuv_channels_model_free (CuvChannelsModel *self); /* NULL is allowed */

/* A copy with arrays of its own. */
CuvChannelsModel *cuv_channels_model_copy (const CuvChannelsModel *self);

/* The model as XML; free() it. comment: text without "--". Returns NULL if
 * memory runs out. */
char *cuv_channels_model_write (
    const CuvChannelsModel *self, const char *comment);

#endif
