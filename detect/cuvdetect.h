/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libcuvdetect: finds objects in pictures with boosted sliding-window
 * classifiers, without GStreamer.
 *
 * It is the detector of the element waldboostdetect: for OpenCV's cascades the
 * boxes are those of cv::CascadeClassifier::detectMultiScale(), in its order.
 *
 *   char *error;
 *   CuvDetectModel *model =
 *       cuv_detect_model_load ("haarcascade_frontalface_alt2.xml", &error);
 *   CuvDetect *detect = cuv_detect_new (&model, 1, NULL, &error);
 *   const CuvDetectPicture picture = { CUV_DETECT_GREY, width, height,
 *     { pixels }, { width } };
 *   const CuvDetection *found;
 *   int n = cuv_detect_run (detect, &picture, &found, &error);
 *
 * Functions that can fail set *error to NULL, or to a text that names the
 * cause, to be freed with free(); error may be NULL. Models are immutable, and
 * threads may share them. A CuvDetect is used by one thread at a time, and uses
 * several threads itself; the child of a fork() needs one of its own. */
#ifndef CUV_DETECT_H
#define CUV_DETECT_H

#include <stddef.h>

#define CUV_DETECT_API __attribute__ ((visibility ("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* ---- models ---- */

typedef struct CuvDetectModel CuvDetectModel;

/* Loads a model from a file: an OpenCV cascade with Haar or LBP features (also
 * in the format of OpenCV 1), a WaldBoost model of BUT FIT, a WBDetector of
 * opencv_contrib, or trees on channels, as XML, YAML or JSON, which may be
 * compressed with gzip. A name without a folder that is not in the working
 * folder is searched for in the folders of CUV_MODEL_PATH (separated by
 * colons), among the models of this project, and in OpenCV's folders. On
 * failure, returns NULL. */
CUV_DETECT_API CuvDetectModel *cuv_detect_model_load (
    const char *name, char **error);

/* Reads a model from memory: size bytes of such a file. On failure, returns
 * NULL. */
CUV_DETECT_API CuvDetectModel *cuv_detect_model_parse (
    const void *bytes, size_t size, char **error);

/* model may be NULL. */
CUV_DETECT_API void cuv_detect_model_free (CuvDetectModel *model);

/* Returns the size of the model's window, the smallest object that it finds
 * without upscale, in pixels. */
CUV_DETECT_API void cuv_detect_model_window (
    const CuvDetectModel *model, int *width, int *height);

/* ---- options ---- */

#define CUV_DETECT_MAX_MODELS 16
#define CUV_DETECT_MAX_ROTATIONS 12

typedef enum {
  CUV_DETECT_GROUP_AUTO,      /* as the model's own program does: NEIGHBORS for
                               * OpenCV's cascades, WBD for WBDetector, otherwise
                               * NMS */
  CUV_DETECT_GROUP_NONE,      /* one box per window */
  CUV_DETECT_GROUP_NEIGHBORS, /* as cv::groupRectangles */
  CUV_DETECT_GROUP_WBD,       /* the same, with WBDetector's tolerance */
  CUV_DETECT_GROUP_NMS        /* non-maximum suppression */
} CuvDetectGrouping;

/* Call cuv_detect_options_init() first: later versions may have more fields. */
typedef struct {
  size_t size; /* of this struct, as the program was compiled */
  /* OpenCV's cascades: ratio of the sizes of successive levels, at least 1.001;
   * 1.1 by default */
  double scale_factor;
  /* sizes of objects, in pixels of the picture; 0 = no limit */
  int min_width, min_height, max_width, max_height;
  /* factor by which pictures are enlarged, 1 to 8, to find objects that are
   * smaller than the window */
  double upscale;
  /* rotations of objects to search for, in degrees clockwise, -180 to 180;
   * without any, upright objects are searched for */
  int n_rotations, rotations[CUV_DETECT_MAX_ROTATIONS];
  /* part of the picture to search; all 0: all of it. left and top are even for
   * NV12 and I420 */
  int left, top, right, bottom;
  CuvDetectGrouping grouping;
  /* NEIGHBORS, WBD: a group needs more than so many windows, 0 = no groups; 3
   * by default */
  int min_neighbors;
  /* NMS: largest intersection of two boxes, divided by their union and by the
   * smaller of them, 0 to 1 */
  double nms_iou, nms_inside;
  int n_threads; /* 0 = one per processor */
  /* 1: objects have a weight, as from OpenCV's detectMultiScale3(): only for
   * OpenCV's cascades and pictures in host memory, without rotations and
   * upscale */
  int weights;
} CuvDetectOptions;

/* Sets the defaults. size: sizeof *options. */
CUV_DETECT_API void cuv_detect_options_init (
    CuvDetectOptions *options, size_t size);

/* ---- pictures ---- */

typedef enum {
  CUV_DETECT_GREY, /* 8 bits per pixel and channel, also in the following */
  CUV_DETECT_RGB,
  CUV_DETECT_BGR,
  CUV_DETECT_RGBA, /* alpha is not read */
  CUV_DETECT_BGRA,
  CUV_DETECT_NV12, /* planes: Y, and UV at half the size; BT.601, limited
                    * range */
  CUV_DETECT_I420  /* planes: Y, and U and V at half the size */
} CuvDetectFormat;

/* A picture. Its pixels are only read. */
typedef struct {
  CuvDetectFormat format;
  int width, height;     /* at least 1 */
  const void *planes[3]; /* the top left pixel of each plane */
  ptrdiff_t strides[3];  /* bytes from one row to the next, may be negative */
  int on_device; /* planes are in CUDA memory, and its context is current: the
                  * same one for all pictures of a CuvDetect */
  void *stream;  /* on_device: a CUstream whose work so far made the picture */
  void *reserved[4]; /* NULL */
} CuvDetectPicture;

/* ---- detection ---- */

typedef struct CuvDetect CuvDetect;

/* An object. */
typedef struct {
  int x, y, width, height; /* in pixels of the picture */
  int model;               /* which of the models found it */
  int rotation;            /* degrees clockwise */
  int neighbors;           /* windows that agree on it */
  /* the highest sum of the last stage over its windows, minus the threshold */
  float score;
  /* with the option weights: the highest sum of the last stage over its
   * windows, in double, and the number of the cascade's stages; else 0 */
  double weight;
  int n_stages;
  int reserved;
} CuvDetection;

/* Creates a detector that searches for n models at once, 1 to
 * CUV_DETECT_MAX_MODELS, and keeps them. options: NULL = the defaults. On
 * failure, returns NULL. */
CUV_DETECT_API CuvDetect *cuv_detect_new (CuvDetectModel *const *models, int n,
    const CuvDetectOptions *options, char **error);

/* detect may be NULL. If its last picture was in CUDA memory, the same context
 * must be current. */
CUV_DETECT_API void cuv_detect_free (CuvDetect *detect);

/* Finds objects; a GPU has finished its work afterwards. Returns their number
 * and sets *found, which is valid until the next call or cuv_detect_free();
 * objects are in the order of models. On failure, returns -1. The first picture
 * of a size takes longer, since memory is allocated for it. */
CUV_DETECT_API int cuv_detect_run (CuvDetect *detect,
    const CuvDetectPicture *picture, const CuvDetection **found, char **error);

/* Returns how many windows of the last picture were beyond the limit, 131072
 * per model: they were dropped before grouping. */
CUV_DETECT_API int cuv_detect_lost (const CuvDetect *detect);

/* ---- grouping ---- */

/* Groups n boxes as cv::groupRectangles: replaces them by the means of the
 * groups of more than min_neighbors boxes, in the order of their first boxes,
 * and sets neighbors to the numbers of boxes; other fields become 0. With
 * min_neighbors below 1, all boxes are kept. Coordinates are from -2^28 to
 * 2^28, eps from -2^20 to 2^20. Returns the number of groups, or on failure
 * -1. */
CUV_DETECT_API int cuv_detect_group (
    CuvDetection *boxes, int n, int min_neighbors, double eps, char **error);

#ifdef __cplusplus
}
#endif

#endif
