/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the parsers of OpenCV cascades: opencv.c reads stages and trees,
 * opencv-features.c features, opencv-old.c the format of OpenCV 1 and 2. */
#ifndef CUV_MODEL_OPENCV_H
#define CUV_MODEL_OPENCV_H

#include "model/reader.h"

/* A feature. An LBP feature has one rectangle, the first of the 3x3 blocks. */
typedef struct {
  CuvHaarRect rect[3];
  int line[3];
  int n_rects;
  int32_t tilted;
} CuvOpencvFeature;

/* A node; its feature is looked up at the end, because <features> comes after
 * <stages>. */
typedef struct {
  int32_t left, right; /* as in CuvGridNode */
  int32_t feature;
  int line;
  uint32_t subset[8]; /* LBP only */
  float threshold;    /* HAAR only */
} CuvOpencvNode;

/* A node of the old format with its children, which are nodes of the tree or
 * values. */
typedef struct {
  CuvOpencvNode node; /* left and right: 0 = the child is not a node */
  gboolean has_value[2];
  float value[2];
} CuvOpencvOldNode;

typedef struct {
  int32_t width, height, max_cat_count;
  float threshold; /* threshold of the current stage */
  /* indices of the current tree's first node and first leaf */
  guint first_node, first_leaf;
  CuvOpencvFeature feature; /* the current feature */
  CuvOpencvOldNode old;     /* the current node in the old format */
  GArray *features;         /* CuvOpencvFeature */
  GArray *nodes;            /* CuvOpencvNode */
} CuvOpencv;

static inline gboolean
cuv_opencv_is_haar (const CuvModelReader *reader)
{
  return reader->builder.model.feature == CUV_FEATURE_HAAR;
}

/* Functions of CuvModelFormat. */
void cuv_opencv_init (CuvModelReader *reader);
void cuv_opencv_clear (gpointer state);

/* CuvBeginElement and CuvEndElement functions of stages and trees. */
void cuv_opencv_begin_stage (
    CuvModelReader *reader, const CuvTag *tag, GError **error);
void cuv_opencv_end_stage (CuvModelReader *reader, const CuvElement *element,
    char *text, GError **error);
void cuv_opencv_read_threshold (CuvModelReader *reader,
    const CuvElement *element, char *text, GError **error);
void cuv_opencv_begin_weak (
    CuvModelReader *reader, const CuvTag *tag, GError **error);
void cuv_opencv_end_weak (CuvModelReader *reader, const CuvElement *element,
    char *text, GError **error);

/* Returns FALSE with an error if the limit of nodes is reached. */
gboolean cuv_opencv_has_room (const CuvOpencv *self, GError **error);

/* CuvBeginElement and CuvEndElement functions of the features' elements. */
void cuv_opencv_begin_feature (
    CuvModelReader *reader, const CuvTag *tag, GError **error);
void cuv_opencv_end_feature (CuvModelReader *reader, const CuvElement *element,
    char *text, GError **error);
void cuv_opencv_read_rect (CuvModelReader *reader, const CuvElement *element,
    char *text, GError **error);
void cuv_opencv_read_weighted_rect (CuvModelReader *reader,
    const CuvElement *element, char *text, GError **error);

/* Fills in the model at the end of the file. */
void cuv_opencv_finish (CuvModelReader *reader, GError **error);

/* Checks the features, and adds the nodes with their features to the model. */
void cuv_opencv_add_nodes (CuvModelReader *reader, GError **error);

#endif
