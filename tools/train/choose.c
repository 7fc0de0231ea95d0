/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Learns both kinds of features from the same pictures and takes the one that
 * finds more objects in those kept out. */
#include "train-tool.h"

#include <math.h>

static CuvFeaturesFound
found_by (const Results *self)
{
  return (CuvFeaturesFound){ results_features (self), self->rates,
    self->found->objects->len };
}

/* Returns the better kind. If both are equal, that is patterns, which found
 * more in other pictures: see docs/training.md. */
static Results *
choose_better (Results *patterns, Results *channels)
{
  const CuvFeaturesFound one = found_by (patterns), other = found_by (channels);
  gchar *why;
  Results *better = cuv_features_choose (&one, &other,
                        patterns->options->false_positives, FALSE, &why)
      ? channels
      : patterns;

  better->choice = why;
  better->other = better == patterns ? channels : patterns;
  return better;
}

/* ---- messages ---- */

static void
print_kind (const Results *self)
{
  const gdouble asked = self->options->false_positives;
  const CuvShare recall = cuv_train_rate_at (self->rates, asked).recall;

  g_print ("%s: recall %.3f (%.3f .. %.3f) ", results_features (self),
      recall.value, recall.low, recall.high);
  if (isfinite (asked))
    g_print ("at %g false positives per picture\n", asked);
  else
    g_print ("at any number of false positives\n");
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
