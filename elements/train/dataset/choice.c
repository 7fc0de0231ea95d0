/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chooses between patterns and trees on channels by what they find in the same
 * pictures. */
#include "dataset.h"

#include <math.h>

static gdouble
recall_at (const CuvFeaturesFound *self, gdouble false_positives)
{
  return cuv_train_rate_at (self->rates, false_positives).recall.value;
}

/* Returns the mean recall over the range from 0 to this number of false
 * positives. */
static gdouble
mean_recall (const CuvFeaturesFound *self, gdouble false_positives)
{
  gdouble sum = 0, at = 0, recall = 0;

  for (guint i = 0; i < self->rates->len; i++) {
    const CuvTrainRate *rate = &g_array_index (self->rates, CuvTrainRate, i);

    if (rate->false_positives > false_positives)
      break;
    sum += recall * (rate->false_positives - at);
    at = rate->false_positives;
    recall = rate->recall.value;
  }
  return (sum + recall * (false_positives - at)) / false_positives;
}

/* Returns whether the mean recall is higher by more than one object; a smaller
 * difference is not significant. */
static gboolean
leads (const CuvFeaturesFound *self, const CuvFeaturesFound *other,
    gdouble false_positives)
{
  return false_positives > 0 && isfinite (false_positives)
      && (mean_recall (self, false_positives)
             - mean_recall (other, false_positives))
          * self->n_objects
      > 1;
}

/* Returns a text such as "at 1 false positives per picture". */
static gchar *
describe_limit (gdouble false_positives)
{
  return isfinite (false_positives)
      ? g_strdup_printf ("at %g false positives per picture", false_positives)
      : g_strdup ("at any number of false positives");
}

static gchar *
explain (const CuvFeaturesFound *taken, const CuvFeaturesFound *other,
    gdouble false_positives)
{
  const gdouble one = recall_at (taken, false_positives);
  const gdouble two = recall_at (other, false_positives);
  gchar *limit = describe_limit (false_positives), *why;

  if (one != two)
    why = g_strdup_printf ("took %s: recall %.3f instead of %.3f %s",
        taken->name, one, two, limit);
  else
    why = g_strdup_printf ("took %s: the same recall %s, but a higher mean "
                           "recall up to there (%.3f instead of %.3f)",
        taken->name, limit, mean_recall (taken, false_positives),
        mean_recall (other, false_positives));
  g_free (limit);
  return why;
}

gboolean
cuv_features_choose (const CuvFeaturesFound *patterns,
    const CuvFeaturesFound *channels, gdouble false_positives,
    gboolean prefers_channels, gchar **why)
{
  const gdouble more = recall_at (channels, false_positives)
      - recall_at (patterns, false_positives);

  if (more > 0
      || (!(more < 0) && leads (channels, patterns, false_positives))) {
    *why = explain (channels, patterns, false_positives);
    return TRUE;
  }
  if (more < 0 || leads (patterns, channels, false_positives)) {
    *why = explain (patterns, channels, false_positives);
    return FALSE;
  }
  *why = g_strdup_printf ("took %s: %s does not find more",
      prefers_channels ? channels->name : patterns->name,
      prefers_channels ? patterns->name : channels->name);
  return prefers_channels;
}
