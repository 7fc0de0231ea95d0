/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Converts the bytes of a model file to text. */
#ifndef CUV_MODEL_TEXT_H
#define CUV_MODEL_TEXT_H

#include <glib.h>

typedef enum {
  CUV_SYNTAX_XML,
  CUV_SYNTAX_YAML, /* includes JSON */
} CuvSyntax;

typedef struct {
  CuvSyntax syntax;
  const char *start; /* UTF-8 without NUL; in the file's bytes, or owned */
  gsize size;
  char *owned; /* g_free() it; NULL if start is in the file's bytes */
} CuvModelText;

/* Decompresses gzip, up to CUV_MODEL_MAX_BYTES. Names and numbers of models are
 * ASCII, so text in any encoding that extends ASCII is accepted, whatever
 * encoding it declares; other bytes, such as those in comments, become question
 * marks. If the file is not a model, the error says what it is, and *line is
 * set. */
gboolean cuv_model_text_read (CuvModelText *self, const char *bytes, gsize size,
    int *line, GError **error);

/* Sets the error for a web page. Returns FALSE. */
gboolean cuv_model_fail_as_page (GError **error);

#endif
