/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Models of trees on channels: windows computed by hand, files, and invalid
 * files. */
#include "model/channels.h"
#include "cuvcheck.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* A model for windows of two blocks square. The first tree is 100 if channel 1
 * of the first block is at least 7, else -100; the second tree is 10 or -10 by
 * channel 9 of the last block. */
static const char good[] =
    "<?xml version=\"1.0\"?>\n"
    "<!-- a test -->\n"
    "<CuvisionChannels version=\"1\" width=\"8\" height=\"8\" shrink=\"4\" "
    "levels=\"8\" overhang=\"0\"\n"
    "  object=\"1 0 6 8\" depth=\"1\" threshold=\"89\" confidence=\"-70 "
    "900\">\n"
    "<tree>-50 1 0 0 7 -100 100</tree>\n"
    "<tree>none 9 1 1 200 -10 10</tree>\n"
    "</CuvisionChannels>\n";

static CuvChannelsModel *
parse_good (void)
{
  char *error = NULL;
  CuvChannelsModel *model =
      cuv_channels_model_parse (good, sizeof good - 1, &error);

  if (!CUV_CHECK (model != NULL, ": %s", error))
    exit (1);
  return model;
}

/* ---- windows ---- */

enum { COLUMNS = 3, ROWS = 2 };

typedef struct {
  uint8_t value[CUV_CHANNELS_N][ROWS][COLUMNS];
} Level;

static void
check_window (const Level *level, int column, int passed, int score)
{
  CuvChannelsModel *model = parse_good ();
  const CuvChannelsLevel planes = { level->value[0][0], COLUMNS, ROWS };
  int32_t actual = 0;

  CUV_CHECK (cuv_channels_evaluate (&model->trees, &planes, column, 0, &actual)
          == passed,
      ": column %d", column);
  CUV_CHECK (actual == score, ": column %d: %d", column, actual);
  cuv_channels_model_free (model);
}

static void
check_windows (void)
{
  Level level = { 0 };

  cuv_check_case ("channels: windows");
  level.value[1][0][0] = 6;
  level.value[1][0][1] = 7;
  level.value[9][1][1] = 255;
  level.value[9][1][2] = 199;
  check_window (&level, 0, 0, 0); /* -100 is below -50 */
  check_window (&level, 1, 2, 1); /* 100 - 10 is above 89, by 1 */
  level.value[9][1][2] = 200;
  check_window (&level, 1, 2, 21); /* 100 + 10 */
  level.value[1][0][0] = 255;
  level.value[9][1][1] = 0;
  check_window (&level, 0, 2, 1);
}

/* Checks that blocks beyond the edge repeat those of the edge. */
static void
check_edges (void)
{
  Level level = { 0 };

  cuv_check_case ("channels: windows that exceed the level");
  memset (level.value[1], 255, sizeof level.value[1]);
  level.value[9][1][2] = 255;
  check_window (&level, -1, 2, 1);
  check_window (&level, 1, 2, 21);
  check_window (&level, 2, 2, 21);
}

/* ---- files ---- */

static void
check_copy (void)
{
  CuvChannelsModel *model = parse_good ();
  char *text = cuv_channels_model_write (model, "a test"), *end;

  cuv_check_case ("channels: copy of a model");
  CUV_CHECK (strcmp (text, good) == 0, ": %s", text);
  free (text);
  CUV_CHECK (model->even == -70 && model->spread == 900);
  model->spread = 0;
  text = cuv_channels_model_write (model, "a test");
  end = strstr (text, "89");
  CUV_CHECK (end != NULL && strncmp (end, "89\">\n", 5) == 0, ": %s", text);
  free (text);
  cuv_channels_model_free (model);
}

/* Returns whether a text is valid UTF-8 without control characters. */
static bool
is_one_line (const char *text)
{
  bool ok = g_utf8_validate (text, -1, NULL);

  for (; *text != '\0'; text++)
    ok = ok && !g_ascii_iscntrl (*text);
  return ok;
}

static void
check_bad (const char *text, size_t size, const char *expected)
{
  char *error = NULL;
  CuvChannelsModel *model = cuv_channels_model_parse (text, size, &error);

  CUV_CHECK (model == NULL);
  CUV_CHECK (error != NULL && strncmp (error, "line ", 5) == 0
          && strstr (error, expected) != NULL,
      ": '%s', not '%s'", error, expected);
  CUV_CHECK (is_one_line (error), ": '%s'", error);
  free (error);
  cuv_channels_model_free (model);
}

static void
check_truncated (void)
{
  cuv_check_case ("channels: truncated model");
  for (size_t size = 1; size < sizeof good - 2; size++)
    check_bad (good, size, ": ");
}

/* More characters of two bytes than a message shows. */
#define WIDE                                                                   \
  "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4"               \
  "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4"

/* Checks the errors of the good model with one part replaced. */
static void
check_bad_models (void)
{
  static const struct {
    const char *part, *by, *error;
  } cases[] = {
    { "version=\"1\"", "version=\"2\"", "'2' is not an integer from 1 to 1" },
    { " version=\"1\"", "", "no attribute version" },
    { "CuvisionChannels v", "cascade v", "the root is <cascade>" },
    { "width=\"8\"", "width=\"260\"", "'260'" },
    { "width=\"8\"", "width=\"10\"",
        "width is 10, but must be a multiple of shrink" },
    { "width=\"8\"", "width=\"4\"", "'4'" },
    { "shrink=\"4\"", "shrink=\"3\"", "shrink must be 2 or 4" },
    { "levels=\"8\"", "levels=\"0\"", "'0'" },
    { "overhang=\"0\"", "overhang=\"1\"", "'1'" },
    { "1 0 6 8", "1 0 8 8", "must be a rectangle inside" },
    { "width=\"8\" height=\"8\" shrink=\"4\" levels=\"8\" overhang=\"0\"\n"
      "  object=\"1 0 6 8\"",
        "width=\"16\" height=\"16\" shrink=\"4\" levels=\"8\" overhang=\"1\" "
        "object=\"0 0 4 16\"",
        "may extend beyond the picture" },
    { "1 0 6 8", "1 0 6", "a number is missing" },
    { "1 0 6 8", "1 0 6 8 9", "more than 4 numbers" },
    { "depth=\"1\"", "depth=\"5\"", "'5'" },
    { "-70 900", "-70", "a number is missing" },
    { "-70 900", "-70 900 1", "confidence has more than 2 numbers" },
    { "-70 900", "-70 0", "the spread of confidence must be above 0" },
    { "-70 900", "-70 -1", "the spread of confidence must be above 0" },
    { "-70 900", "-1073741825 900", "'-1073741825'" },
    { "-70 900", "-70 1073741825", "'1073741825'" },
    { "-70 900", "", "a number is missing" },
    { "1 0 6 8", "-1 0 6 8", "must be a rectangle inside" },
    { "depth=\"1\"", "depth=\"2\"", "'-100' is not an integer from 0 to 9" },
    { "none 9 1 1 200 -10 10", "none 9 1 1 200 -10", "a number is missing" },
    { "none 9 1 1 200 -10 10", "none 9", "a number is missing" },
    { "none 9 1 1 200 -10 10", "", "the tree is empty" },
    { "depth=\"1\"", "depth=\"1\" colour=\"1\"", "unknown attribute 'colour'" },
    { "none 9", "nothing 9", "'nothing' is not an integer" },
    { "none 9", "none 10", "'10'" },
    { "none 9 1", "none 9 2", "'2'" },
    { "1 1 200", "1 1 0", "'0'" },
    { "1 1 200", "1 1 256", "'256'" },
    { "-10 10", "-10 32768", "'32768'" },
    { "none 9", "&#27;", "' ' is not an integer" },
    { "none 9", WIDE, "is not an integer" },
    { "none 9", "x" WIDE, "is not an integer" },
    { "width=\"8\"", "width=\"&#27;8\"", "'" },
    { "</CuvisionChannels>", "", "not well-formed XML" },
    { "-10 10", "-10 10 10", "more numbers than its depth" },
    { "<tree>none", "<tree a=\"1\">none", "unexpected element" },
    { "<tree>none", "<leaf>none", "unexpected element" },
    { "<tree>none", "4<tree>none", "unexpected text" },
    { "none 9", "<a/> 9", "unexpected element" },
    { "</CuvisionChannels>\n", "</CuvisionChannels><a/>", ":" },
  };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *at = strstr (good, cases[i].part);
    char text[sizeof good + 64];

    cuv_check_case (
        "channels: '%s' replaced by '%s'", cases[i].part, cases[i].by);
    snprintf (text, sizeof text, "%.*s%s%s", (int) (at - good), good,
        cases[i].by, at + strlen (cases[i].part));
    check_bad (text, strlen (text), cases[i].error);
  }
}

static void
check_empty_model (void)
{
  const char *end = strchr (strchr (good, '>') + 1, '>'); /* of the comment */
  char text[sizeof good];
  const char *root_end = strchr (end + 1, '>') + 1;

  cuv_check_case ("channels: no trees");
  snprintf (text, sizeof text, "%.*s</CuvisionChannels>",
      (int) (root_end - good), good);
  check_bad (text, strlen (text), "there are no trees");
}

CUV_CHECKS (check_channels_models)
{
  check_windows ();
  check_edges ();
  check_copy ();
  check_truncated ();
  check_bad_models ();
  check_empty_model ();
}
