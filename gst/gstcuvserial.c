/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstcuvserial.h"
#include "gstcuvtablemove.h"

#include <gst/video/video.h>
#include <string.h>

#define MAX_NEW_NAMES 65536
#define MAX_NAME_SIZE 256

/* ---- names ---- */

GQuark
gst_cuv_serial_quark (const gchar *name)
{
  static gint left = MAX_NEW_NAMES;
  const GQuark quark = g_quark_try_string (name);

  if (quark != 0 || strlen (name) > MAX_NAME_SIZE
      || g_atomic_int_get (&left) <= 0)
    return quark;
  if (g_atomic_int_add (&left, -1) == 1)
    GST_WARNING (
        "received %d new names of labels, fields and columns: ignoring "
        "all further ones",
        MAX_NEW_NAMES);
  return g_quark_from_string (name);
}

#if GST_CHECK_VERSION(1, 24, 0)
#define SERIAL_VERSION 1

/* ---- variants ---- */

/* FNV-1a, stored behind the variant, so that damaged bytes are not read as
 * results. */
static guint32
checksum (const guint8 *data, gsize size)
{
  guint32 sum = 2166136261u;

  for (gsize i = 0; i < size; i++)
    sum = (sum ^ data[i]) * 16777619u;
  return sum;
}

gboolean
gst_cuv_serial_append (
    GstByteArrayInterface *data, guint8 *version, GVariant *variant)
{
  guint32 sum;
  gboolean ok;

  g_variant_ref_sink (variant);
  sum = checksum (g_variant_get_data (variant), g_variant_get_size (variant));
  ok = gst_byte_array_interface_append_data (
           data, g_variant_get_data (variant), g_variant_get_size (variant))
      && gst_byte_array_interface_append_data (
          data, (const guint8 *) &sum, sizeof sum);
  *version = SERIAL_VERSION;
  g_variant_unref (variant);
  return ok;
}

GVariant *
gst_cuv_serial_parse (
    const gchar *type, const guint8 *data, gsize size, guint8 version)
{
  GVariant *variant;
  GBytes *bytes;
  guint32 sum;

  if (version != SERIAL_VERSION || size < sizeof sum)
    return NULL;
  size -= sizeof sum;
  memcpy (&sum, data + size, sizeof sum);
  if (sum != checksum (data, size))
    return NULL;
  bytes = g_bytes_new (data, size);
  variant = g_variant_ref_sink (
      g_variant_new_from_bytes (G_VARIANT_TYPE (type), bytes, FALSE));
  g_bytes_unref (bytes);
  if (!g_variant_is_normal_form (variant))
    g_clear_pointer (&variant, g_variant_unref);
  return variant;
}

/* ---- tables ---- */

static gboolean
serialize_table (
    const GstMeta *meta, GstByteArrayInterface *data, guint8 *version)
{
  return gst_cuv_serial_append (data, version,
      gst_cuv_serial_from_structure (
          gst_custom_meta_get_structure ((GstCustomMeta *) meta)));
}

static GstMeta *
deserialize_table (const GstMetaInfo *info, GstBuffer *buffer,
    const guint8 *data, gsize size, guint8 version)
{
  GVariant *variant =
      gst_cuv_serial_parse (GST_CUV_SERIAL_STRUCTURE, data, size, version);
  GstStructure *read =
      variant != NULL ? gst_cuv_serial_to_structure (variant) : NULL;
  GstCustomMeta *meta = NULL;

  if (read != NULL)
    meta = gst_cuv_table_add (buffer, info, read);
  g_clear_pointer (&read, gst_structure_free);
  g_clear_pointer (&variant, g_variant_unref);
  return (GstMeta *) meta;
}

/* ---- regions ---- */

/* label, id, parent_id, x, y, w, h, params */
#define REGION "(siiuuuua" GST_CUV_SERIAL_STRUCTURE ")"

static gboolean
serialize_region (
    const GstMeta *meta, GstByteArrayInterface *data, guint8 *version)
{
  const GstVideoRegionOfInterestMeta *roi =
      (const GstVideoRegionOfInterestMeta *) meta;
  const gchar *label = g_quark_to_string (roi->roi_type);
  gchar *valid = g_utf8_make_valid (label != NULL ? label : "", -1);
  GVariantBuilder params;
  gboolean ok;

  g_variant_builder_init (
      &params, G_VARIANT_TYPE ("a" GST_CUV_SERIAL_STRUCTURE));
  for (GList *l = roi->params; l != NULL; l = l->next)
    g_variant_builder_add_value (
        &params, gst_cuv_serial_from_structure (l->data));
  ok = gst_cuv_serial_append (data, version,
      g_variant_new (REGION, valid, roi->id, roi->parent_id, roi->x, roi->y,
          roi->w, roi->h, &params));
  g_free (valid);
  return ok;
}

static void
add_params (GstVideoRegionOfInterestMeta *roi, GVariantIter *params)
{
  GVariant *param;

  while ((param = g_variant_iter_next_value (params)) != NULL) {
    GstStructure *structure = gst_cuv_serial_to_structure (param);

    if (structure != NULL)
      gst_video_region_of_interest_meta_add_param (roi, structure);
    g_variant_unref (param);
  }
}

static GstMeta *
deserialize_region (const GstMetaInfo *info, GstBuffer *buffer,
    const guint8 *data, gsize size, guint8 version)
{
  GVariant *variant = gst_cuv_serial_parse (REGION, data, size, version);
  GstVideoRegionOfInterestMeta *roi;
  GVariantIter *params;
  const gchar *label;
  guint x, y, w, h;
  gint id, parent_id;

  if (variant == NULL)
    return NULL;
  g_variant_get (variant, "(&siiuuuua" GST_CUV_SERIAL_STRUCTURE ")", &label,
      &id, &parent_id, &x, &y, &w, &h, &params);
  roi = gst_buffer_add_video_region_of_interest_meta_id (
      buffer, *label != '\0' ? gst_cuv_serial_quark (label) : 0, x, y, w, h);
  roi->id = id;
  roi->parent_id = parent_id;
  add_params (roi, params);
  g_variant_iter_free (params);
  g_variant_unref (variant);
  return (GstMeta *) roi;
}
#endif

/* ---- infos ---- */

#if GST_CHECK_VERSION(1, 24, 0)
/* GStreamer calls these functions since 1.24 but has no API to set them: custom
 * metas use its own functions, which write text, and regions have none. Other
 * threads may read both pointers at any time, without a lock. */
void
gst_cuv_serial_set_functions (const GstMetaInfo *info,
    GstMetaSerializeFunction serialize, GstMetaDeserializeFunction deserialize)
{
  GstMetaInfo *target = (GstMetaInfo *) info;

  g_atomic_pointer_set (&target->deserialize_func, deserialize);
  g_atomic_pointer_set (&target->serialize_func, serialize);
}
#endif

void
gst_cuv_serial_table (const GstMetaInfo *info)
{
#if GST_CHECK_VERSION(1, 24, 0)
  gst_cuv_serial_set_functions (info, serialize_table, deserialize_table);
#endif
}

void
gst_cuv_serial_objects (void)
{
#if GST_CHECK_VERSION(1, 24, 0)
  static gsize once = 0;
  const GstMetaInfo *info;

  if (!g_once_init_enter (&once))
    return;
  info = gst_video_region_of_interest_meta_get_info ();
  if (info->serialize_func == NULL && info->deserialize_func == NULL)
    gst_cuv_serial_set_functions (info, serialize_region, deserialize_region);
#if HAVE_ANALYTICS
  gst_cuv_serial_analytics ();
#endif
  g_once_init_leave (&once, 1);
#endif
}
