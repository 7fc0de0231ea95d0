/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sets, reads and copies the fields of a settings struct, which the rows of its
 * table describe. Private to gst/settings. */
#ifndef GST_CUV_FIELDS_H
#define GST_CUV_FIELDS_H

#include "settings/gstcuvsettings.h"

GType gst_cuv_setting_type (const GstCuvSetting *setting);
gpointer gst_cuv_setting_field (
    gpointer settings, const GstCuvSetting *setting);

/* Stores a value. Returns whether the field changes, always TRUE for owned
 * types. */
gboolean gst_cuv_setting_store (
    const GstCuvSetting *setting, gpointer field, const GValue *value);
void gst_cuv_setting_store_default (
    const GstCuvSetting *setting, gpointer field);
void gst_cuv_setting_fetch (
    const GstCuvSetting *setting, gconstpointer field, GValue *value);

/* Returns the value for messages, to be freed. It is valid UTF-8 even if it is
 * a file name that is not. */
gchar *gst_cuv_setting_describe (
    const GstCuvSetting *setting, gpointer settings);

gpointer gst_cuv_settings_copy (
    const GstCuvSettingsTable *table, gpointer settings);
void gst_cuv_settings_free (
    const GstCuvSettingsTable *table, gpointer settings);

/* Frees what parse() made. */
void gst_cuv_settings_free_parsed (
    const GstCuvSettingsTable *table, gpointer settings);

#endif
