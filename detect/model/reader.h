/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the parsers of all formats, and a map of this folder.
 *
 * cuv_model_parse() is called by file.c (element, tools) and by tests:
 *   file.c             finds a model file by name and reads it
 *   text.c             bytes -> text: gzip, UTF-16; says what other files are
 *   reader.c           recognises the format, walks the elements by its rules
 *   xml.c, yaml.c      elements of XML; of YAML and JSON
 *   values.c           words, numbers, attributes and errors
 * Formats, each a table of rules for reader.c:
 *   opencv.c           opencv_traincascade: stages and trees
 *   opencv-old.c       opencv_haartraining, the format of OpenCV 1 and 2
 *   opencv-features.c  features of both
 *   butfit.c           BUT FIT's WaldBoostClassifier: stages and tables
 *   butfit-features.c  features of BUT FIT's classifier
 *   wbd.c              WBDetector of opencv_contrib
 * Trees on channels, whose files are read strictly:
 *   channels.c         XML -> CuvChannelsModel; channels-write.c the reverse
 * And:
 *   model.c            the finished model: derived fields, reference count
 *   write.c            a trained classifier -> XML of BUT FIT or OpenCV */
#ifndef CUV_MODEL_READER_H
#define CUV_MODEL_READER_H

#include <glib.h>
#include "model/model.h"

#define CUV_LBP_CODES 256
#define CUV_OPENCV_THRESHOLD_EPS                                               \
  1e-5f /* OpenCV subtracts this from the thresholds of stages */

/* ---- a model under construction ---- */

/* A parser sets the fields of model that the file determines, except counts and
 * pointers, and fills the arrays: haar_nodes if model.feature is HAAR,
 * otherwise nodes. */
typedef struct {
  CuvWaldboostModel model;
  GArray *weak;       /* CuvWeak */
  GArray *nodes;      /* CuvGridNode */
  GArray *haar_nodes; /* CuvHaarNode */
  GArray *leaves;     /* float */
  /* int32_t, indices into weak; empty in WaldBoost models */
  GArray *stage_first;
} CuvModelBuilder;

void cuv_model_builder_init (CuvModelBuilder *self);
void cuv_model_builder_clear (CuvModelBuilder *self);

/* Finishes the model and takes over the arrays. Derives counts, pointers,
 * stumps, tilted, max_block_area and, for FIXED models, the integer fields. */
const CuvWaldboostModel *cuv_model_builder_finish (CuvModelBuilder *self);

/* ---- formats ---- */

/* The role of an element in the format. Formats add their own roles from
 * CUV_ROLE_FIRST on, below 32 (see CuvElement.seen). */
enum {
  CUV_ROLE_SKIP,    /* ignored, including its children and text */
  CUV_ROLE_STORAGE, /* <opencv_storage> */
  CUV_ROLE_TOP,     /* child of <opencv_storage>, possibly a model */
  CUV_ROLE_MODEL,
  CUV_ROLE_FIRST,
};

typedef struct _CuvElementRule CuvElementRule;
typedef struct _CuvModelReader CuvModelReader;

/* An open element. */
typedef struct {
  int role, line;
  const CuvElementRule *rule; /* NULL outside of the model */
  guint32 seen;               /* bit set: roles of the children so far */
} CuvElement;

typedef struct {
  const char *name;
  const char **names, **values; /* attributes; NULL-terminated */
} CuvTag;

typedef void (*CuvBeginElement) (
    CuvModelReader *reader, const CuvTag *tag, GError **error);

/* Called at the end of an element. text is its content and may be modified. */
typedef void (*CuvEndElement) (CuvModelReader *reader,
    const CuvElement *element, char *text, GError **error);

enum {
  /* any number of these elements in the parent; otherwise at most one */
  CUV_ELEMENT_MANY = 1 << 0,
  CUV_ELEMENT_REQUIRED = 1 << 1, /* at least one element in the parent */
  CUV_ELEMENT_TEXT = 1 << 2,     /* the element's text is read */
};

/* A known element, identified by its parent's role and its name. */
struct _CuvElementRule {
  int parent; /* role of the parent */
  const char *name;
  int role;
  guint flags;
  CuvBeginElement begin; /* may be NULL */
  CuvEndElement end;     /* may be NULL */
  /* If high > 0, the text is an integer from low to high, stored as int32_t at
   * this offset in the state. */
  gsize offset;
  int low, high;
  const char *if_empty; /* error if no known child is present; NULL: allowed */
};

/* A format and its private, zero-initialised state. */
typedef struct {
  const CuvElementRule *rules;
  guint n_rules;
  gsize state_size;
  void (*init) (CuvModelReader *reader);
  void (*clear) (gpointer state);
  /* The model's own element. Its functions are not called for models in
   * <opencv_storage>, which are recognised by their children. */
  CuvElementRule model;
} CuvModelFormat;

extern const CuvModelFormat cuv_format_opencv, cuv_format_opencv_old,
    cuv_format_butfit, cuv_format_wbd;

#define CUV_FORMATS                                                            \
  "OpenCV cascades with LBP or Haar features, BUT FIT's WaldBoostClassifier, " \
  "OpenCV's WBDetector and CuvisionChannels"

struct _CuvModelReader {
  CuvModelOptions options;
  CuvModelBuilder builder;
  const CuvModelFormat *format; /* NULL until recognised */
  gpointer state;
  CuvElement open[CUV_MODEL_MAX_DEPTH + 1]; /* open[0] is the document */
  int depth;
  GString *text;
  int line; /* for error messages */
};

/* ---- elements of a document ---- */

#define CUV_STORAGE "opencv_storage" /* the root of cv::FileStorage's files */

/* Called by xml.c and yaml.c, which set line first. */
void cuv_reader_start (CuvModelReader *self, const CuvTag *tag, GError **error);
void cuv_reader_add_text (
    CuvModelReader *self, const char *text, gsize size, GError **error);
void cuv_reader_end (CuvModelReader *self, GError **error);

/* Parse a text and call the functions above. In YAML and JSON the root is
 * CUV_STORAGE; members of a mapping are elements; mappings and sequences in a
 * sequence are elements named _, and numbers in a sequence are words of its
 * text. If the text is not well-formed, the error says whether it was read as
 * XML or YAML. */
gboolean cuv_parse_xml (
    CuvModelReader *self, const char *text, gsize size, GError **error);
gboolean cuv_parse_yaml (
    CuvModelReader *self, const char *text, gsize size, GError **error);

/* ---- words, numbers, attributes ---- */

/* maximum number of characters of an invalid value in a message */
#define CUV_MAX_SHOWN 24

/* Returns FALSE. */
gboolean cuv_model_fail (GError **error, const char *format, ...)
    G_GNUC_PRINTF (2, 3);

/* Returns the error as one line of valid UTF-8, whatever the file contains:
 * "line N: reason". Frees the error; pass the text to free(). */
char *cuv_model_describe (int line, GError *error);

/* Returns the next word, terminated in place, or NULL if none is left. */
char *cuv_next_word (char **text);
gboolean cuv_more_words (char **text);

/* Returns the only word of an element's text. If there is not exactly one,
 * returns NULL and an error with the element's name. */
char *cuv_only_word (char *text, const char *name, GError **error);

gboolean cuv_to_integer (
    const char *word, gint64 low, gint64 high, gint64 *value, GError **error);
gboolean cuv_to_double (const char *word, double *value, GError **error);
gboolean cuv_to_float (const char *word, float *value, GError **error);

/* Reads a number from -limit to limit. */
gboolean cuv_to_limited (
    const char *word, float limit, float *value, GError **error);

/* Returns the attribute's value, or NULL if it is missing. */
const char *cuv_attribute (const CuvTag *tag, const char *name);

/* Return FALSE with an error if the attribute is missing or out of range. */
gboolean cuv_attribute_text (
    const CuvTag *tag, const char *name, const char **text, GError **error);
gboolean cuv_attribute_integer (const CuvTag *tag, const char *name, int low,
    int high, int *value, GError **error);
gboolean cuv_attribute_float (const CuvTag *tag, const char *name, float limit,
    float *value, GError **error);

/* Returns the code of a local binary pattern with its 8 bits reversed. In BUT
 * FIT's files bit 0 is the top left neighbour and the others follow clockwise,
 * the reverse of CUV_FEATURE_LBP. */
static inline guint
cuv_lbp_reversed (guint code)
{
  guint reversed = 0;

  for (guint bit = 0; bit < 8; bit++)
    reversed |= (code >> bit & 1) << (7 - bit);
  return reversed;
}

/* Largest response of a WaldBoost weak classifier: with CUV_MODEL_MAX_STAGES of
 * them, any sum fits 32 bits. */
#define CUV_MAX_RESPONSE 1e5f

/* Largest number of pixels whose sum of squares fits 32 bits. */
#define CUV_MAX_SQUARES_AREA (G_MAXUINT32 / (255 * 255))

#endif
