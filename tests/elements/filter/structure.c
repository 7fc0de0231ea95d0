/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gst/gstcuvstructure.h against the functions of GStreamer. */
#include "gstcuvstructure.h"

#include "cuvtest.h"

#define FIELDS(text, bytes)                                                    \
  "i", G_TYPE_INT, -5, "u", G_TYPE_UINT, 4000000000u, "d", G_TYPE_DOUBLE,      \
      0.25, "long", G_TYPE_UINT64, G_GUINT64_CONSTANT (1) << 40, "flag",       \
      G_TYPE_BOOLEAN, TRUE, "text", G_TYPE_STRING, text, "bytes",              \
      G_TYPE_BYTES, bytes, "i", G_TYPE_INT, 7, NULL

CUV_TEST (structures_equal_those_of_gstreamer)
{
  GBytes *bytes = g_bytes_new_static ("abc", 3);
  GstStructure *made = gst_cuv_structure_new ("name", FIELDS ("x", bytes));
  GstStructure *expected = gst_structure_new ("name", FIELDS ("x", bytes));
  GstStructure *set = gst_cuv_structure_new ("name", NULL);

  gst_cuv_structure_set (set, FIELDS ("x", bytes));
  fail_unless (gst_structure_is_equal (made, expected));
  fail_unless (gst_structure_is_equal (set, expected));
  fail_unless_equals_int (gst_structure_n_fields (set), 7);
  gst_structure_free (made);
  gst_structure_free (expected);
  gst_structure_free (set);
  g_bytes_unref (bytes);
}

CUV_TEST (fields_are_found_by_name_and_type)
{
  GstStructure *self = gst_cuv_structure_new (
      "name", "u", G_TYPE_UINT, 3, "text", G_TYPE_STRING, "word", NULL);
  guint number = 8;

  fail_unless_equals_string (
      gst_cuv_structure_get_string (self, "text"), "word");
  fail_unless (gst_cuv_structure_get_string (self, "u") == NULL);
  fail_unless (gst_cuv_structure_get_string (self, "other") == NULL);
  fail_unless (!gst_cuv_structure_get_uint (self, "text", &number));
  fail_unless (!gst_cuv_structure_get_uint (self, "other", &number));
  fail_unless_equals_int (number, 8);
  fail_unless (gst_cuv_structure_get_uint (self, "u", &number));
  fail_unless_equals_int (number, 3);
  gst_structure_free (self);
}

static gpointer
look_up (gpointer data)
{
  gchar name[16];

  for (gint i = 0; i < 1000; i++) {
    g_snprintf (name, sizeof name, "name-%d", i);
    fail_unless_equals_int (gst_cuv_quark (name), g_quark_from_string (name));
    fail_unless_equals_int (gst_cuv_quark (name), g_quark_from_string (name));
  }
  return NULL;
}

/* The text of a name may change after it was looked up. */
CUV_TEST (quarks_are_those_of_glib_in_every_thread)
{
  GThread *threads[4];

  for (gint i = 0; i < 4; i++)
    threads[i] = g_thread_new ("names", look_up, NULL);
  look_up (NULL);
  fail_unless_equals_int (gst_cuv_quark (NULL), 0);
  for (gint i = 0; i < 4; i++)
    g_thread_join (threads[i]);
}
