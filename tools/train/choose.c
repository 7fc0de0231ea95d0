/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Learns both kinds of features from the same pictures and takes the one that
 * finds more objects in those kept out. */
#include "train-tool.h"

#include <math.h>

/* ---- the rule ---- */

static CuvShare
recall_at (const Results *self, gdouble false_positives)
{
  return cuv_train_rate_at (self->rates, false_positives).recall;
}

/* "at 1 false positives per picture" */
static gchar *
describe_limit (gdouble false_positives)
{
  return isfinite (false_positives)
      ? g_strdup_printf ("at %g false positives per picture", false_positives)
      : g_strdup ("at any number of false positives");
}

/* The mean of the recall from no false positives to this many. */
static gdouble
mean_recall (const Results *self, gdouble false_positives)
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

/* By how much the first is better than the other where both find as many
 * objects in the end; less than an object says nothing. */
static gdouble
lead (const Results *self, const Results *other)
{
  const gdouble asked = self->options->false_positives;
  const gdouble ahead = asked > 0 && isfinite (asked)
      ? mean_recall (self, asked) - mean_recall (other, asked)
      : 0;

  return ahead * self->found->objects->len > 1 ? ahead : 0;
}

static Results *
take_first (Results *self, const Results *other)
{
  const gdouble asked = self->options->false_positives;
  const gdouble mine = recall_at (self, asked).value;
  const gdouble its = recall_at (other, asked).value;
  gchar *limit = describe_limit (asked);

  self->choice = mine != its
      ? g_strdup_printf ("took %s: recall %.3f instead of %.3f %s",
          results_features (self), mine, its, limit)
      : g_strdup_printf ("took %s: the same recall %s, but mean recall %.3f "
                         "instead of %.3f up to there",
          results_features (self), limit, mean_recall (self, asked),
          mean_recall (other, asked));
  self->other = other;
  g_free (limit);
  return self;
}

/* How fast they are is no part of it: the model would depend on the machine. */
static Results *
choose_better (Results *patterns, Results *channels)
{
  const gdouble asked = patterns->options->false_positives;
  const gdouble more =
      recall_at (channels, asked).value - recall_at (patterns, asked).value;

  if (more > 0 || (!(more < 0) && lead (channels, patterns) > 0))
    return take_first (channels, patterns);
  if (more < 0 || lead (patterns, channels) > 0)
    return take_first (patterns, channels);
  patterns->choice = g_strdup_printf (
      "took %s: channels find no more", results_features (patterns));
  patterns->other = channels;
  return patterns;
}

/* ---- messages ---- */

static void
print_kind (const Results *self)
{
  const gdouble asked = self->options->false_positives;
  const CuvShare recall = recall_at (self, asked);
  gchar *limit = describe_limit (asked);

  g_print ("%s: recall %.3f (%.3f .. %.3f) %s\n", results_features (self),
      recall.value, recall.low, recall.high, limit);
  g_free (limit);
}

/* ---- both kinds ---- */

static gboolean
end_with (Results *self, GError **error)
{
  g_print ("%s\n", self->choice);
  return write_end (self, error);
}

static gboolean
end_without (
    Results *self, const Results *other, const GError *problem, GError **error)
{
  self->choice = g_strdup_printf ("took %s: %s cannot be learnt, as %s",
      results_features (self), results_features (other), problem->message);
  return end_with (self, error);
}

static gboolean
measure (Results *self, GError **error)
{
  return (results_set_threshold (self) && results_measure (self))
      || learn_fail (CUV_TRAIN_NO_MEMORY, error);
}

typedef struct {
  Results *patterns, *channels;
  GError *problem; /* why channels cannot be learnt, or NULL */
} Rival;

static gboolean
finish_patterns (Results *self, gpointer data, GError **error)
{
  const Rival *rival = data;

  if (!measure (self, error))
    return FALSE;
  if (rival->problem != NULL)
    return end_without (self, rival->channels, rival->problem, error);
  print_kind (self);
  print_kind (rival->channels);
  return end_with (choose_better (self, rival->channels), error);
}

static gboolean
try_patterns (Rival *rival, GError **error)
{
  GError *problem = NULL;
  gboolean ok;

  if (learn_check (rival->patterns, &problem)
      && learn_grid (rival->patterns, finish_patterns, rival, &problem))
    return TRUE;
  if (problem->domain != LEARN_ERROR || rival->problem != NULL) {
    g_propagate_error (error, problem);
    return FALSE;
  }
  ok = end_without (rival->channels, rival->patterns, problem, error);
  g_error_free (problem);
  return ok;
}

static gboolean
finish_channels (Results *self, gpointer data, GError **error)
{
  return measure (self, error) && try_patterns (data, error);
}

/* Channels come first, so that the states of both are kept until the end. */
static gboolean
try_both (Rival *rival, GError **error)
{
  GError *problem = NULL;

  if (learn_check (rival->channels, &problem)
      && learn_channels (rival->channels, finish_channels, rival, &problem))
    return TRUE;
  if (problem->domain != LEARN_ERROR || rival->channels->channels != NULL) {
    g_propagate_error (error, problem);
    return FALSE;
  }
  rival->problem = problem;
  return try_patterns (rival, error);
}

gboolean
choose_run (
    const TrainOptions *options, const TrainInputs *inputs, GError **error)
{
  const TrainOptions of_patterns = options_for (options, CUV_FEATURE_LBP);
  const TrainOptions of_channels = options_for (options, CUV_FEATURE_CHANNELS);
  Results patterns, channels;
  Rival rival = { &patterns, &channels, NULL };
  gboolean ok;

  results_init (&patterns, &of_patterns, inputs);
  results_init (&channels, &of_channels, inputs);
  ok = try_both (&rival, error);
  results_clear (&patterns);
  results_clear (&channels);
  g_clear_error (&rival.problem);
  return ok;
}
