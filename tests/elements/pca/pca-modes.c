/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The property mode of spectralpca: its former nick for second-moments,
 * correlation, still works. */
#include "pca-scene.h"

#include <glib/gstdio.h>
#include "pca/pca-types.h"

static void
check_mode (GstElement *pca)
{
  gint mode;

  g_object_get (pca, "mode", &mode, NULL);
  fail_unless_equals_int (mode, CUV_PCA_SECOND_MOMENTS);
  g_object_set (pca, "mode", CUV_PCA_PEARSON, NULL);
}

/* Presets as earlier versions saved them, with the nick or the name. */
static void
write_presets (const gchar *directory)
{
  g_autofree gchar *path =
      g_build_filename (directory, "GstSpectralPca.prs", NULL);

  fail_unless (g_file_set_contents (path,
      "[_presets_]\nversion=0.1.0\nelement-name=GstSpectralPca\n"
      "[nick]\nmode=correlation\n[new]\nmode=second-moments\n"
      "[name]\nmode=The mean of s s^T, without a centre\n",
      -1, NULL));
  fail_unless (gst_preset_set_app_dir (directory));
}

CUV_TEST (second_moments_has_two_nicks)
{
  static const gchar *const presets[] = { "nick", "new", "name" };
  static const gchar *const nicks[] = { "second-moments", "correlation" };
  g_autofree gchar *directory = g_dir_make_tmp ("pca-XXXXXX", NULL);
  g_autofree gchar *file = NULL;
  GstElement *pca;
  GValue mode = G_VALUE_INIT;

  write_presets (directory);
  for (guint i = 0; i < G_N_ELEMENTS (nicks); i++) {
    gchar *line = g_strdup_printf ("spectralpca mode=%s", nicks[i]);

    pca = gst_parse_launch (line, NULL);
    check_mode (pca);
    gst_util_set_object_arg (G_OBJECT (pca), "mode", nicks[i]);
    check_mode (pca);
    gst_object_unref (pca);
    g_free (line);
  }
  pca = gst_element_factory_make ("spectralpca", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (presets); i++) {
    fail_unless (gst_preset_load_preset (GST_PRESET (pca), presets[i]));
    check_mode (pca);
  }
  gst_util_set_object_arg (G_OBJECT (pca), "mode", "correlation");
  g_object_get_property (G_OBJECT (pca), "mode", &mode);
  fail_unless_equals_string (
      g_enum_get_value (
          g_type_class_peek (G_VALUE_TYPE (&mode)), g_value_get_enum (&mode))
          ->value_nick,
      "second-moments");
  g_value_unset (&mode);
  gst_object_unref (pca);
  file = g_build_filename (directory, "GstSpectralPca.prs", NULL);
  g_unlink (file);
  g_rmdir (directory);
}
