/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Diagrams of curves, as SVG, for the report's page. */
#include "train-tool.h"

#include <math.h>

/* Sizes in user units of the SVG. */
enum {
  WIDTH = 480,
  HEIGHT = 300,
  LEFT = 64,
  RIGHT = 20,
  TOP = 10,
  BOTTOM = 44
};

/* Returns the position of a value between the ends of the axis, 0 .. 1. */
static gdouble
share_of (gdouble value, gdouble first, gdouble last, gboolean log_axis)
{
  const gdouble share = log_axis
      ? log (MAX (value, first) / first) / log (last / first)
      : (value - first) / (last - first);

  return CLAMP (share, 0, 1);
}

static gdouble
x_of (const PlotAxes *axes, gdouble value)
{
  return LEFT
      + (WIDTH - LEFT - RIGHT)
      * share_of (value, axes->x_first, axes->x_last, axes->x_log);
}

static gdouble
y_of (const PlotAxes *axes, gdouble value)
{
  return HEIGHT - BOTTOM
      - (HEIGHT - TOP - BOTTOM)
      * share_of (value, axes->y_first, axes->y_last, axes->y_log);
}

static void
append_line (GString *out, gdouble x1, gdouble y1, gdouble x2, gdouble y2)
{
  g_string_append_printf (out,
      "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' class='grid'/>\n", x1, y1,
      x2, y2);
}

static void
append_text (GString *out, gdouble x, gdouble y, const gchar *attributes,
    const gchar *text)
{
  gchar *escaped = g_markup_escape_text (text, -1);

  g_string_append_printf (
      out, "<text x='%.1f' y='%.1f' %s>%s</text>\n", x, y, attributes, escaped);
  g_free (escaped);
}

static void
append_tick (
    GString *out, gdouble x, gdouble y, const gchar *anchor, gdouble tick)
{
  g_string_append_printf (out,
      "<text x='%.1f' y='%.1f' text-anchor='%s'>%.5g</text>\n", x, y, anchor,
      tick);
}

/* ---- axes ---- */

/* Returns the distance of ticks on a linear axis: a round number that makes at
 * most 8 steps. */
static gdouble
tick_step (gdouble first, gdouble last)
{
  static const gdouble steps[] = { 1, 2, 2.5, 5, 10 };
  const gdouble power = pow (10, floor (log10 ((last - first) / 10)));
  guint i = 0;

  while (
      i + 1 < G_N_ELEMENTS (steps) && (last - first) / (steps[i] * power) > 8)
    i++;
  return steps[i] * power;
}

static GArray *
ticks_of (gdouble first, gdouble last, gboolean log_axis)
{
  GArray *ticks = g_array_new (FALSE, FALSE, sizeof (gdouble));
  const gdouble step = log_axis ? 1 : tick_step (first, last);
  const gdouble from = log_axis ? log10 (first) : first;
  const gdouble to = log_axis ? log10 (last) : last;

  for (gdouble i = ceil (from / step - 1e-6); i * step <= to + 1e-6 * step;
       i++) {
    const gdouble tick = log_axis ? pow (10, i) : i * step + 0.0; /* no -0 */

    g_array_append_val (ticks, tick);
  }
  return ticks;
}

static void
append_x_axis (GString *out, const PlotAxes *axes)
{
  GArray *ticks = ticks_of (axes->x_first, axes->x_last, axes->x_log);

  for (guint i = 0; i < ticks->len; i++) {
    const gdouble tick = g_array_index (ticks, gdouble, i);
    const gdouble x = x_of (axes, tick);

    append_line (out, x, TOP, x, HEIGHT - BOTTOM);
    append_tick (out, x, HEIGHT - BOTTOM + 16, "middle", tick);
  }
  append_text (out, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 8,
      "text-anchor='middle'", axes->x_label);
  g_array_unref (ticks);
}

static void
append_y_axis (GString *out, const PlotAxes *axes)
{
  GArray *ticks = ticks_of (axes->y_first, axes->y_last, axes->y_log);
  gchar *turn;

  for (guint i = 0; i < ticks->len; i++) {
    const gdouble tick = g_array_index (ticks, gdouble, i);
    const gdouble y = y_of (axes, tick);

    append_line (out, LEFT, y, WIDTH - RIGHT, y);
    append_tick (out, LEFT - 6, y + 4, "end", tick);
  }
  turn = g_strdup_printf ("text-anchor='middle' transform='rotate(-90 14 %d)'",
      (TOP + HEIGHT - BOTTOM) / 2);
  append_text (out, 14, (TOP + HEIGHT - BOTTOM) / 2.0, turn, axes->y_label);
  g_free (turn);
  g_array_unref (ticks);
}

/* ---- curves ---- */

static void
append_curve (GString *out, const PlotAxes *axes, const PlotCurve *curve)
{
  g_string_append_printf (out,
      "<polyline fill='none' stroke='%s' stroke-width='2' points='",
      curve->color);
  for (guint i = 0; i < curve->points->len; i++) {
    const PlotPoint *point = &g_array_index (curve->points, PlotPoint, i);

    g_string_append_printf (
        out, "%.1f,%.1f ", x_of (axes, point->x), y_of (axes, point->y));
  }
  g_string_append (out, "'/>\n");
}

static void
append_legend (
    GString *out, const PlotAxes *axes, const PlotCurve *curves, guint n)
{
  const guint top = axes->legend_below ? HEIGHT - BOTTOM - 16 * n - 6 : TOP;

  for (guint i = 0; i < n; i++) {
    gchar *color =
        g_strdup_printf ("text-anchor='end' style='fill:%s'", curves[i].color);

    append_text (
        out, WIDTH - RIGHT - 6, top + 16 + 16 * i, color, curves[i].name);
    g_free (color);
  }
}

void
plot_append (
    GString *out, const PlotAxes *axes, const PlotCurve *curves, guint n)
{
  g_string_append_printf (out,
      "<svg viewBox='0 0 %d %d' width='%d' height='%d' role='img'>\n", WIDTH,
      HEIGHT, WIDTH, HEIGHT);
  append_x_axis (out, axes);
  append_y_axis (out, axes);
  for (guint i = 0; i < n; i++)
    append_curve (out, axes, &curves[i]);
  if (n > 1)
    append_legend (out, axes, curves, n);
  g_string_append (out, "</svg>\n");
}
