/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A frame with each kind of meta that one of GStreamer's copies loses. */
#include "config.h"
#include "cuvelements.h"

static const gchar *const no_tags[] = { NULL };
static const gchar *const video_tag[] = { "video", NULL };
static const gchar *const size_tags[] = { "video", "size", "orientation",
  NULL };

static void
register_metas (void)
{
  static gboolean done = FALSE;

  if (!done) {
    gst_meta_register_custom (
        "CuvTestNoTag", (const gchar **) no_tags, NULL, NULL, NULL);
    gst_meta_register_custom (
        "CuvTestVid", (const gchar **) video_tag, NULL, NULL, NULL);
    gst_meta_register_custom (
        "CuvTestSize", (const gchar **) size_tags, NULL, NULL, NULL);
  }
  done = TRUE;
}

static void
add_custom (GstBuffer *buffer, const gchar *name)
{
  GstCustomMeta *meta = gst_buffer_add_custom_meta (buffer, name);

  gst_structure_set (
      gst_custom_meta_get_structure (meta), "answer", G_TYPE_INT, 42, NULL);
}

GstBuffer *
cuv_frame_with_metas (void)
{
  GstBuffer *buffer = cuv_frame_new ("NV12", 64, 48);
  GstVideoRegionOfInterestMeta *roi;
  GstVideoCropMeta *crop;
  GstCaps *reference = gst_caps_new_empty_simple ("timestamp/x-test");

  register_metas ();
  roi = gst_buffer_add_video_region_of_interest_meta (
      buffer, "face", 10, 11, 12, 13);
  roi->id = 5;
  roi->parent_id = 3;
  gst_video_region_of_interest_meta_add_param (roi,
      gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE, 0.75, NULL));
  gst_video_region_of_interest_meta_add_param (
      roi, gst_structure_new ("object_id", "id", G_TYPE_INT, 9, NULL));
  add_custom (buffer, "CuvTestNoTag");
  add_custom (buffer, "CuvTestVid");
  add_custom (buffer, "CuvTestSize");
  crop = gst_buffer_add_video_crop_meta (buffer);
  crop->x = 2;
  crop->width = 20;
  gst_buffer_add_video_time_code_meta_full (
      buffer, 30, 1, NULL, GST_VIDEO_TIME_CODE_FLAGS_NONE, 1, 2, 3, 4, 0);
  gst_buffer_add_reference_timestamp_meta (buffer, reference, 77, 88);
  gst_caps_unref (reference);
  GST_BUFFER_PTS (buffer) = 111;
  GST_BUFFER_DTS (buffer) = 99;
  GST_BUFFER_DURATION (buffer) = 222;
  GST_BUFFER_OFFSET (buffer) = 333;
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_MARKER | GST_BUFFER_FLAG_GAP);
  return buffer;
}

static void
check_roi (const gchar *line, GstBuffer *buffer)
{
  GstVideoRegionOfInterestMeta *roi =
      gst_buffer_get_video_region_of_interest_meta_id (buffer, 5);
  GstStructure *param;
  gdouble confidence = 0;
  gint id = 0;

  fail_unless (roi != NULL, "%s loses the ROI", line);
  fail_unless_equals_int (roi->parent_id, 3);
  fail_unless_equals_string (g_quark_to_string (roi->roi_type), "face");
  fail_unless (roi->x == 10 && roi->y == 11 && roi->w == 12 && roi->h == 13);
  param = gst_video_region_of_interest_meta_get_param (roi, "detection");
  fail_unless (param != NULL, "%s loses the ROI's params", line);
  gst_structure_get_double (param, "confidence", &confidence);
  fail_unless (confidence == 0.75);
  param = gst_video_region_of_interest_meta_get_param (roi, "object_id");
  fail_unless (
      param != NULL && gst_structure_get_int (param, "id", &id) && id == 9);
}

static void
check_custom (const gchar *line, GstBuffer *buffer, const gchar *name)
{
  GstCustomMeta *meta = gst_buffer_get_custom_meta (buffer, name);
  gint answer = 0;

  fail_unless (meta != NULL, "%s loses %s", line, name);
  gst_structure_get_int (
      gst_custom_meta_get_structure (meta), "answer", &answer);
  fail_unless_equals_int (answer, 42);
}

void
cuv_check_metas (const gchar *line, GstBuffer *buffer)
{
  GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (buffer);
  GstVideoTimeCodeMeta *code = gst_buffer_get_video_time_code_meta (buffer);
  GstReferenceTimestampMeta *reference =
      gst_buffer_get_reference_timestamp_meta (buffer, NULL);

  check_roi (line, buffer);
  check_custom (line, buffer, "CuvTestNoTag");
  check_custom (line, buffer, "CuvTestVid");
  check_custom (line, buffer, "CuvTestSize");
  fail_unless (crop != NULL && crop->x == 2 && crop->width == 20);
  fail_unless (code != NULL && code->tc.frames == 4);
  fail_unless (reference != NULL && reference->timestamp == 77);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), 111);
  fail_unless_equals_uint64 (GST_BUFFER_DTS (buffer), 99);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer), 222);
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_MARKER));
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP));
}
