/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the parsers of all formats: an XML walk driven by rules (reader.c),
 * words, numbers and errors (values.c). */
#ifndef CUV_MODEL_READER_H
#define CUV_MODEL_READER_H

#include "model/builder.h"

/* The role of an element in the format. Formats add their own places from
 * CUV_PLACE_FIRST on, below 32 (see CuvElement.seen). */
enum {
  CUV_PLACE_SKIP,    /* ignored, with its content */
  CUV_PLACE_STORAGE, /* <opencv_storage> */
  CUV_PLACE_TOP,     /* a child of it that may be a model */
  CUV_PLACE_MODEL,
  CUV_PLACE_FIRST,
};

typedef enum {
  CUV_ELEMENT_ONE,   /* at most one in its parent */
  CUV_ELEMENT_ANY,   /* any number */
  CUV_ELEMENT_TEXT,  /* at most one, whose text is read */
  CUV_ELEMENT_TEXTS, /* any number, whose text is read */
} CuvElementKind;

/* The place of an element by its parent's place and its name. */
typedef struct {
  int parent; /* place */
  const char *name;
  int place;
  CuvElementKind kind;
} CuvElementRule;

/* An open element. */
typedef struct {
  int place, line;
  CuvElementKind kind;
  guint32 seen; /* bit set: places of the children so far */
} CuvElement;

typedef struct {
  const char *name;
  const char **names, **values; /* attributes; NULL-terminated */
} CuvTag;

typedef struct _CuvModelReader CuvModelReader;

/* A format and its private, zero-initialised state. */
typedef struct {
  const CuvElementRule *rules;
  guint n_rules;
  gsize state_size;
  void (*init) (CuvModelReader *reader);
  void (*clear) (gpointer state);
  /* Start of an element. For a model recognised by its own element this is the
   * first call; models in <opencv_storage>, recognised by their children, get
   * no call for CUV_PLACE_MODEL. */
  void (*begin) (
      CuvModelReader *reader, int place, const CuvTag *tag, GError **error);
  /* End of an element; text is its content and may be modified. */
  void (*end) (CuvModelReader *reader, const CuvElement *element, char *text,
      GError **error);
} CuvModelFormat;

extern const CuvModelFormat cuv_format_opencv, cuv_format_butfit,
    cuv_format_wbd;

struct _CuvModelReader {
  CuvModelOptions options;
  CuvModelBuilder parts;
  const CuvModelFormat *format; /* NULL until recognised */
  gpointer state;
  CuvElement open[CUV_MODEL_MAX_DEPTH + 1]; /* open[0] is the document */
  int depth;
  GString *text;
  int line; /* for error messages */
};

/* FALSE with an error if the element lacks this child. */
gboolean cuv_reader_require (const CuvModelReader *self,
    const CuvElement *element, int place, GError **error);

#define CUV_SHOWN 24 /* characters of an invalid value in a message */

/* Sets an error. */
void cuv_model_fail (GError **error, const char *format, ...)
    G_GNUC_PRINTF (2, 3);

/* The next word, terminated in place; NULL if none is left. */
char *cuv_next_word (char **text);
gboolean cuv_more_words (char **text);

/* The only word of an element's text; else an error with the element's name. */
char *cuv_only_word (char *text, const char *name, GError **error);
gboolean cuv_only_integer (char *text, const char *name, gint64 low,
    gint64 high, gint64 *value, GError **error);

gboolean cuv_to_integer (
    const char *word, gint64 low, gint64 high, gint64 *value, GError **error);
gboolean cuv_to_double (const char *word, double *value, GError **error);
gboolean cuv_to_float (const char *word, float *value, GError **error);

/* A number in -limit .. limit. */
gboolean cuv_to_limited (
    const char *word, float limit, float *value, GError **error);

/* NULL if missing. */
const char *cuv_attribute (const CuvTag *tag, const char *name);

/* FALSE with an error if missing or out of range. */
gboolean cuv_attribute_text (
    const CuvTag *tag, const char *name, const char **text, GError **error);
gboolean cuv_attribute_integer (const CuvTag *tag, const char *name, gint64 low,
    gint64 high, gint64 *value, GError **error);
gboolean cuv_attribute_float (const CuvTag *tag, const char *name, float limit,
    float *value, GError **error);

/* Largest response of a WaldBoost weak classifier: with CUV_MODEL_MAX_STAGES of
 * them, any sum fits 32 bits. */
#define CUV_MAX_RESPONSE 1e5f

/* Largest number of pixels whose sum of squares fits 32 bits. */
#define CUV_MAX_SQUARES_AREA (G_MAXUINT32 / (255 * 255))

#endif
