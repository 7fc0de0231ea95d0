/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element houghlines. */
#ifndef GST_HOUGH_LINES_H
#define GST_HOUGH_LINES_H

#include "base/gstcuvfilter.h"

G_BEGIN_DECLS

#define GST_TYPE_HOUGH_LINES (gst_hough_lines_get_type ())
G_DECLARE_FINAL_TYPE (
    GstHoughLines, gst_hough_lines, GST, HOUGH_LINES, GstCuvFilter)

GST_ELEMENT_REGISTER_DECLARE (houghlines);

G_END_DECLS

#endif
