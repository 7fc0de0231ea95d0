/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the parser of OpenCV cascades: opencv.c reads stages and trees,
 * opencv-features.c features. */
#ifndef CUV_MODEL_OPENCV_H
#define CUV_MODEL_OPENCV_H

#include "model/reader.h"

enum {
  CUV_OPENCV_STAGE_TYPE = CUV_PLACE_FIRST,
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
  CUV_OPENCV_RECTS,
  CUV_OPENCV_WEIGHTED_RECT,
  CUV_OPENCV_TILTED,
};

/* LBP features have one rectangle, the first of the 3x3 blocks. */
typedef struct {
  CuvHaarRect rect[3];
  int line[3];
  int n_rects;
  int32_t tilted;
} CuvOpencvFeature;

/* A node's reference to a feature, resolved at the end: <features> comes after
 * <stages>. */
typedef struct {
  int32_t feature;
  int line;
} CuvOpencvFeatureRef;

typedef struct {
  gint64 width, height, max_cat_count;
  float threshold;              /* of the current stage */
  guint first_node, first_leaf; /* of the current tree */
  CuvOpencvFeature feature;     /* the current one */
  GArray *features;             /* CuvOpencvFeature */
  GArray *feature_refs;         /* CuvOpencvFeatureRef, one per node */
} CuvOpencv;

static inline gboolean
cuv_opencv_is_haar (const CuvModelReader *reader)
{
  return reader->parts.model.feature == CUV_FEATURE_HAAR;
}

void cuv_opencv_read_rect (CuvModelReader *reader, char *text, GError **error);
void cuv_opencv_read_weighted_rect (
    CuvModelReader *reader, char *text, GError **error);
void cuv_opencv_end_feature (
    CuvModelReader *reader, const CuvElement *element, GError **error);

/* Checks the features, resolves the references and copies the features into the
 * nodes. */
void cuv_opencv_resolve_features (CuvModelReader *reader, GError **error);

#endif
