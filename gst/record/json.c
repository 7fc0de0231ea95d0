/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "record/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Byte offsets of a member's text, which ends where that of the next member
 * begins; commas are inserted when the object is closed and its members are
 * sorted. */
typedef struct {
  gsize start, end, key_size;
} Member;

typedef struct {
  gsize start;
  guint first_member;
  const gchar *const *reserved; /* a list that ends with NULL, or NULL */
} Object;

void
cuv_json_init (CuvJson *self)
{
  self->text = g_string_sized_new (1024);
  self->sorted = g_string_sized_new (1024);
  self->members = g_array_new (FALSE, FALSE, sizeof (Member));
  self->objects = g_array_new (FALSE, FALSE, sizeof (Object));
  self->depth = 0;
}

void
cuv_json_clear (CuvJson *self)
{
  g_string_free (self->text, TRUE);
  g_string_free (self->sorted, TRUE);
  g_array_unref (self->members);
  g_array_unref (self->objects);
}

gchar *
cuv_json_steal (CuvJson *self, gsize *size)
{
  gchar *text;

  *size = self->text->len;
  text = g_string_free (self->text, FALSE);
  self->text = g_string_sized_new (*size + 64);
  return text;
}

/* ---- objects ---- */

void
cuv_json_begin_object (CuvJson *self)
{
  Object object = { self->text->len, self->members->len, NULL };

  g_array_append_val (self->objects, object);
}

static Object *
open_object (CuvJson *self)
{
  return &g_array_index (self->objects, Object, self->objects->len - 1);
}

void
cuv_json_reserve (CuvJson *self, const gchar *const *names)
{
  open_object (self)->reserved = names;
}

void
cuv_json_key (CuvJson *self, const gchar *name)
{
  Member member = { self->text->len, 0, 0 };

  cuv_json_string (self, name);
  member.key_size = self->text->len - member.start;
  g_string_append_c (self->text, ':');
  g_array_append_val (self->members, member);
}

/* Compares keys as written, with invalid UTF-8 replaced: keys that are equal
 * after that are the same key. */
static gboolean
last_key_is_taken (CuvJson *self)
{
  Member last = g_array_index (self->members, Member, self->members->len - 1);

  for (guint i = open_object (self)->first_member; i + 1 < self->members->len;
       i++) {
    Member member = g_array_index (self->members, Member, i);

    if (member.key_size == last.key_size
        && memcmp (self->text->str + member.start, self->text->str + last.start,
               last.key_size)
            == 0)
      return TRUE;
  }
  return FALSE;
}

static void
remove_last_key (CuvJson *self)
{
  guint last = self->members->len - 1;

  g_string_truncate (
      self->text, g_array_index (self->members, Member, last).start);
  g_array_set_size (self->members, last);
}

guint
cuv_json_new_key (CuvJson *self, const gchar *name)
{
  const gchar *const *reserved = open_object (self)->reserved;
  gboolean taken = reserved != NULL && g_strv_contains (reserved, name);
  guint n = 1;

  cuv_json_key (self, name);
  while (taken || last_key_is_taken (self)) {
    gchar *other = g_strdup_printf ("%s_%u", name, ++n);

    remove_last_key (self);
    cuv_json_key (self, other);
    g_free (other);
    taken = FALSE;
  }
  return n;
}

static gint
compare_members (gconstpointer a, gconstpointer b, gpointer text)
{
  const Member *first = a, *second = b;
  /* without the closing quote, which would sort after a space */
  gsize first_size = first->key_size - 1, second_size = second->key_size - 1;
  gint order = memcmp ((gchar *) text + first->start,
      (gchar *) text + second->start, MIN (first_size, second_size));

  if (order != 0 || first_size == second_size)
    return order;
  return first_size < second_size ? -1 : 1;
}

void
cuv_json_end_object (CuvJson *self)
{
  Object object = *open_object (self);
  guint n = self->members->len - object.first_member;
  Member *members = n > 0
      ? &g_array_index (self->members, Member, object.first_member)
      : NULL;

  for (guint i = 0; i < n; i++)
    members[i].end = i + 1 < n ? members[i + 1].start : self->text->len;
  if (n > 1)
    qsort_r (members, n, sizeof *members, compare_members, self->text->str);
  g_string_assign (self->sorted, "{");
  for (guint i = 0; i < n; i++) {
    if (i > 0)
      g_string_append_c (self->sorted, ',');
    g_string_append_len (self->sorted, self->text->str + members[i].start,
        members[i].end - members[i].start);
  }
  g_string_append_c (self->sorted, '}');
  g_string_truncate (self->text, object.start);
  g_string_append_len (self->text, self->sorted->str, self->sorted->len);
  g_array_set_size (self->members, object.first_member);
  g_array_set_size (self->objects, self->objects->len - 1);
}

/* ---- arrays ---- */

void
cuv_json_begin_array (CuvJson *self)
{
  g_string_append_c (self->text, '[');
}

void
cuv_json_next (CuvJson *self)
{
  if (self->text->str[self->text->len - 1] != '[')
    g_string_append_c (self->text, ',');
}

void
cuv_json_end_array (CuvJson *self)
{
  g_string_append_c (self->text, ']');
}

/* ---- plain values ---- */

void
cuv_json_null (CuvJson *self)
{
  g_string_append (self->text, "null");
}

void
cuv_json_boolean (CuvJson *self, gboolean value)
{
  g_string_append (self->text, value ? "true" : "false");
}

void
cuv_json_int (CuvJson *self, gint64 value)
{
  g_string_append_printf (self->text, "%" G_GINT64_FORMAT, value);
}

void
cuv_json_uint (CuvJson *self, guint64 value)
{
  g_string_append_printf (self->text, "%" G_GUINT64_FORMAT, value);
}

/* Appends the shortest text that reads back as the same double, or float if
 * single. */
static void
append_real (CuvJson *self, gdouble value, gboolean single)
{
  gint max_digits = single ? 9 : 17; /* digits that always read back exactly */
  gchar buffer[G_ASCII_DTOSTR_BUF_SIZE], format[8];

  if (!isfinite (value)) {
    cuv_json_null (self);
    return;
  }
  for (gint digits = max_digits - 3 + single; digits <= max_digits; digits++) {
    g_snprintf (format, sizeof format, "%%.%dg", digits);
    g_ascii_formatd (buffer, sizeof buffer, format, value);
    if (single ? (gfloat) g_ascii_strtod (buffer, NULL) == (gfloat) value
               : g_ascii_strtod (buffer, NULL) == value)
      break;
  }
  g_string_append (self->text, buffer);
  /* some readers distinguish integers from reals by the text */
  if (strpbrk (buffer, ".e") == NULL)
    g_string_append (self->text, ".0");
}

void
cuv_json_double (CuvJson *self, gdouble value)
{
  append_real (self, value, FALSE);
}

void
cuv_json_float (CuvJson *self, gfloat value)
{
  append_real (self, value, TRUE);
}

static void
append_escaped (GString *text, const gchar *value)
{
  static const gchar special[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
  const gchar *found;

  for (; *value != '\0'; value++) {
    guchar c = (guchar) *value;

    if ((found = strchr (special, c)) != NULL) {
      g_string_append_c (text, '\\');
      g_string_append_c (text, letters[found - special]);
    } else if (c < 0x20 || c == 0x7f) {
      g_string_append_printf (text, "\\u%04x", c);
    } else {
      g_string_append_c (text, (gchar) c);
    }
  }
}

void
cuv_json_string (CuvJson *self, const gchar *value)
{
  if (value == NULL) {
    cuv_json_null (self);
    return;
  }
  g_string_append_c (self->text, '"');
  if (g_utf8_validate (value, -1, NULL)) {
    append_escaped (self->text, value);
  } else {
    gchar *valid = g_utf8_make_valid (value, -1);

    append_escaped (self->text, valid);
    g_free (valid);
  }
  g_string_append_c (self->text, '"');
}

void
cuv_json_string_member (CuvJson *self, const gchar *name, const gchar *value)
{
  cuv_json_key (self, name);
  cuv_json_string (self, value);
}

void
cuv_json_bytes (CuvJson *self, gconstpointer data, gsize size)
{
  gchar *base64 = g_base64_encode (data, size);

  cuv_json_string (self, base64);
  g_free (base64);
}
