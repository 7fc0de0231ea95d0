/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the two halves of the parser of OpenCV's cascades share: model-opencv.c
 * knows the elements, model-opencv-values.c what is in them. */
#ifndef CUV_MODEL_OPENCV_H
#define CUV_MODEL_OPENCV_H

#include "model-builder.h"

/* Where in a file an element stands. */
typedef enum {
  CUV_OPENCV_SKIP, /* an element that says nothing to us, and all in it */
  CUV_OPENCV_DOCUMENT,
  CUV_OPENCV_STORAGE,
  CUV_OPENCV_CASCADE,
  CUV_OPENCV_STAGE_TYPE,
  CUV_OPENCV_FEATURE_TYPE,
  CUV_OPENCV_WIDTH,
  CUV_OPENCV_HEIGHT,
  CUV_OPENCV_FEATURE_PARAMS,
  CUV_OPENCV_MAX_CAT_COUNT,
  CUV_OPENCV_STAGES,
  CUV_OPENCV_STAGE,
  CUV_OPENCV_STAGE_THRESHOLD,
  CUV_OPENCV_WEAKS,
  CUV_OPENCV_WEAK,
  CUV_OPENCV_INTERNAL_NODES,
  CUV_OPENCV_LEAF_VALUES,
  CUV_OPENCV_FEATURES,
  CUV_OPENCV_FEATURE,
  CUV_OPENCV_RECT,
} CuvOpencvPlace;

typedef struct {
  int32_t x, y, width, height;
  int line;
} CuvOpencvRect;

/* A node's feature is looked up at the end: features come after the stages. */
typedef struct {
  int32_t feature;
  int line;
} CuvOpencvWanted;

typedef struct {
  CuvOpencvPlace place;
  int line;
  guint32 seen; /* places of the children so far */
} CuvOpencvElement;

typedef struct {
  CuvModelBuilder parts;
  GArray *features; /* Rect */
  GArray *wanted;   /* Wanted, one for each node */
  CuvOpencvElement open[CUV_MODEL_MAX_DEPTH + 1];
  int depth;
  GString *text;
  int line;
  gint64 width, height, max_cat_count;
  float threshold;              /* of the stage that is read */
  guint first_node, first_leaf; /* of the tree that is read */
} CuvOpencvParser;

/* Sets an error of our own. */
void cuv_opencv_fail (GError **error, const char *format, ...)
    G_GNUC_PRINTF (2, 3);

/* Reads the text of an element, and changes it; ignores places without text. */
void cuv_opencv_read (
    CuvOpencvParser *self, CuvOpencvPlace place, char *text, GError **error);

/* A place begins or ends. */
void cuv_opencv_begin_weak (CuvOpencvParser *self);
void cuv_opencv_end_weak (
    CuvOpencvParser *self, const CuvOpencvElement *element, GError **error);
void cuv_opencv_begin_stage (CuvOpencvParser *self, GError **error);
void cuv_opencv_end_stage (
    CuvOpencvParser *self, const CuvOpencvElement *element, GError **error);
void cuv_opencv_end_cascade (
    CuvOpencvParser *self, const CuvOpencvElement *element, GError **error);
gboolean cuv_opencv_require (const CuvOpencvElement *element,
    CuvOpencvPlace child, const char *name, GError **error);

#endif
