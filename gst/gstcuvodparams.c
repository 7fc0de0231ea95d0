/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstcuvodparams.h"

#if HAVE_ANALYTICS
static void
free_list (gpointer params)
{
  g_list_free_full (params, (GDestroyNotify) gst_structure_free);
}

/* The keys are ids of ODMtds, the values lists of GstStructures. */
static GHashTable *
new_params (void)
{
  return g_hash_table_new_full (NULL, NULL, NULL, free_list);
}

const GList *
gst_cuv_od_params_get (GHashTable *params, guint od)
{
  return params != NULL ? g_hash_table_lookup (params, GUINT_TO_POINTER (od))
                        : NULL;
}

void
gst_cuv_od_params_add (GHashTable *params, guint od, GstStructure *structure)
{
  GList *list = g_hash_table_lookup (params, GUINT_TO_POINTER (od));

  if (list != NULL)
    list = g_list_append (list, structure); /* the head stays */
  else
    g_hash_table_insert (
        params, GUINT_TO_POINTER (od), g_list_append (NULL, structure));
}

#if GST_CHECK_VERSION(1, 26, 0)
static GHashTable *
copy_params (GHashTable *params)
{
  GHashTable *copy = new_params ();
  gpointer od, list;
  GHashTableIter iter;

  g_hash_table_iter_init (&iter, params);
  while (g_hash_table_iter_next (&iter, &od, &list))
    g_hash_table_insert (copy, od,
        g_list_copy_deep (
            list, (GCopyFunc) (void (*) (void)) gst_structure_copy, NULL));
  return copy;
}

static GHashTable **
params_of (const GstAnalyticsMtd *mtd)
{
  return gst_analytics_relation_meta_get_mtd_data (mtd->meta, mtd->id);
}

/* The relation meta was copied byte by byte. */
static gboolean
transform_params (GstBuffer *target, GstAnalyticsMtd *mtd, GstBuffer *source,
    GQuark type, gpointer data)
{
  GHashTable **params = params_of (mtd);

  if (*params != NULL)
    *params = copy_params (*params);
  return TRUE;
}

static void
clear_params (GstBuffer *buffer, GstAnalyticsMtd *mtd)
{
  g_clear_pointer (params_of (mtd), g_hash_table_unref);
}

static const GstAnalyticsMtdImpl params_impl = { "GstCuvParams",
  transform_params, clear_params, { NULL } };

static GHashTable **
find_entry (GstAnalyticsRelationMeta *meta)
{
  gpointer state = NULL;
  GstAnalyticsMtd mtd;

  return gst_analytics_relation_meta_iterate (
             meta, &state, (GstAnalyticsMtdType) &params_impl, &mtd)
      ? params_of (&mtd)
      : NULL;
}

GHashTable *
gst_cuv_od_params_find (GstAnalyticsRelationMeta *meta)
{
  GHashTable **params = find_entry (meta);

  return params != NULL ? *params : NULL;
}

GHashTable *
gst_cuv_od_params_steal (GstAnalyticsRelationMeta *meta)
{
  GHashTable **params = find_entry (meta);

  return params != NULL ? g_steal_pointer (params) : NULL;
}

void
gst_cuv_od_params_restore (GstAnalyticsRelationMeta *meta, GHashTable *params)
{
  if (params != NULL)
    *find_entry (meta) = params;
}

GHashTable *
gst_cuv_od_params_new (GstAnalyticsRelationMeta *meta)
{
  GstAnalyticsMtd mtd;
  GHashTable **params = gst_analytics_relation_meta_add_mtd (
      meta, &params_impl, sizeof *params, &mtd);

  *params = new_params ();
  return *params;
}
#else
GHashTable *
gst_cuv_od_params_find (GstAnalyticsRelationMeta *meta)
{
  return NULL;
}

GHashTable *
gst_cuv_od_params_new (GstAnalyticsRelationMeta *meta)
{
  return NULL;
}

GHashTable *
gst_cuv_od_params_steal (GstAnalyticsRelationMeta *meta)
{
  return NULL;
}

void
gst_cuv_od_params_restore (GstAnalyticsRelationMeta *meta, GHashTable *params)
{
}
#endif
#endif
