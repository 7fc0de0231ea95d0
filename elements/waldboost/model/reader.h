/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parsers of all formats share: XML read by rules, words and numbers,
 * errors. */
#ifndef CUV_MODEL_READER_H
#define CUV_MODEL_READER_H

#include "model/builder.h"

/* Where an element stands. Formats add their own places from CUV_PLACE_FIRST
 * on, below 32. */
enum {
  CUV_PLACE_SKIP,    /* an element that says nothing to us, and all in it */
  CUV_PLACE_STORAGE, /* <opencv_storage> */
  CUV_PLACE_TOP,     /* a child of it, not yet known to be a model */
  CUV_PLACE_MODEL,
  CUV_PLACE_FIRST,
};

typedef enum {
  CUV_ELEMENT_ONE,   /* one in its parent */
  CUV_ELEMENT_ANY,   /* any number */
  CUV_ELEMENT_TEXT,  /* one, whose text is read */
  CUV_ELEMENT_TEXTS, /* any number of them */
} CuvElementKind;

/* What an element is, by its name and where it stands. */
typedef struct {
  int parent; /* place */
  const char *name;
  int place;
  CuvElementKind kind;
} CuvElementRule;

/* An element that is open. */
typedef struct {
  int place, line;
  CuvElementKind kind;
  guint32 seen; /* places of the children so far */
} CuvElement;

typedef struct {
  const char *name;
  const char **names, **values; /* of the attributes; both end with NULL */
} CuvTag;

typedef struct _CuvModelReader CuvModelReader;

/* One of the formats. The state is its own; it begins as zeros. */
typedef struct {
  const CuvElementRule *rules;
  guint n_rules;
  gsize state_size;
  void (*init) (CuvModelReader *reader);
  void (*clear) (gpointer state);
  /* An element begins. If the model's own does, that is the first call, but a
   * model in <opencv_storage> shows by its children only: it has no begin. */
  void (*begin) (
      CuvModelReader *reader, int place, const CuvTag *tag, GError **error);
  /* It ends; text is its, and may be changed. */
  void (*end) (CuvModelReader *reader, const CuvElement *element, char *text,
      GError **error);
} CuvModelFormat;

extern const CuvModelFormat cuv_format_opencv, cuv_format_butfit,
    cuv_format_wbd;

struct _CuvModelReader {
  CuvModelOptions options;
  CuvModelBuilder parts;
  const CuvModelFormat *format; /* NULL until it is known */
  gpointer state;
  CuvElement open[CUV_MODEL_MAX_DEPTH + 1]; /* open[0] is the document */
  int depth;
  GString *text;
  int line; /* that an error is about */
};

/* FALSE, with an error, if the element did not have this child. */
gboolean cuv_reader_require (const CuvModelReader *self,
    const CuvElement *element, int place, GError **error);

/* ---- values: model/values.c ---- */

#define CUV_SHOWN 24 /* characters of a bad value in a message */

/* Sets an error of our own. */
void cuv_model_fail (GError **error, const char *format, ...)
    G_GNUC_PRINTF (2, 3);

/* The next word of a text; it ends it with a NUL. NULL if none is left. */
char *cuv_next_word (char **text);
gboolean cuv_more_words (char **text);

/* The one word of an element. */
char *cuv_only_word (char *text, const char *name, GError **error);
gboolean cuv_only_integer (char *text, const char *name, gint64 low,
    gint64 high, gint64 *value, GError **error);

gboolean cuv_to_integer (
    const char *word, gint64 low, gint64 high, gint64 *value, GError **error);
gboolean cuv_to_double (const char *word, double *value, GError **error);
gboolean cuv_to_float (const char *word, float *value, GError **error);

/* A number between -limit and limit. */
gboolean cuv_to_limited (
    const char *word, float limit, float *value, GError **error);

/* NULL if there is none. */
const char *cuv_attribute (const CuvTag *tag, const char *name);

/* FALSE, with an error, if there is none or it is none of these. */
gboolean cuv_attribute_text (
    const CuvTag *tag, const char *name, const char **text, GError **error);
gboolean cuv_attribute_integer (const CuvTag *tag, const char *name, gint64 low,
    gint64 high, gint64 *value, GError **error);
gboolean cuv_attribute_float (const CuvTag *tag, const char *name, float limit,
    float *value, GError **error);

/* Responses of WaldBoost models beyond this are refused, so that any sum of
 * them fits 32 bits. */
#define CUV_MAX_RESPONSE 1e5f

/* Pixels whose squares' sum, each up to 255 * 255, fits 32 bits. */
#define CUV_MAX_SQUARES_AREA (G_MAXUINT32 / (255 * 255))

#endif
