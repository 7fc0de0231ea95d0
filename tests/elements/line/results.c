/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The results of the elements that analyse frames, as visionpublish writes
 * them, are the same bytes on all processors and with all compilers.
 * CUV_TEST_IMAGES is the folder docs/images. If results are meant to change,
 * take the new checksums from the test's output. */
#include "cuvelements.h"

#include <string.h>

/* opencv-doc's pictures and the documentation's */
#define PICTURE(name) "filesrc location=DATA/" name " ! pngdec ! "
#define TWO_PICTURES                                                           \
  "multifilesrc location=DATA/basketball%d.png start-index=1 "                 \
  "caps=image/png,framerate=10/1 ! pngdec ! "
#define FACES "filesrc location=IMAGES/faces.jpg ! jpegdec ! "

static const struct {
  const gchar *line, *sha256;
} cases[] = {
  { FACES "waldboostdetect model=lbpcascade_frontalface_improved.xml",
      "3a1c920df19329ec7346cac64bb8ac5f8674c6a44fa55fe74ca255da063ef5d4" },
  { FACES "waldboostdetect model=haarcascade_frontalface_default.xml",
      "2c01d36760e712d22cab634277a4d6a3340b8b17412c7fc431b24c4418f309d0" },
  { PICTURE ("sudoku.png") "houghlines",
      "ae1a50ed8b68a3f15df2e516141956f2a01a19895de31e58cf5c48cce35c0640" },
  { PICTURE ("sudoku.png") "houghlines method=pclines segments=true",
      "ef82d50cd7bb891224268a537763db9038cfbc6d9bdab4d9e09c1ded3e024084" },
  { TWO_PICTURES "rcdtrack object-initial-x=180 object-initial-y=150 "
                 "object-initial-width=90 object-initial-height=120",
      "952c8987392d40010e7ea4f123497449b9de5ba820d0aa18ecc7eb85e9d088b2" },
  { TWO_PICTURES "visionmotion shadows=false",
      "bc2ccfc66b68db9b768d4e1aa240176a56d526954aeb6f6ae5c626974a11f133" },
  { TWO_PICTURES "visionmotion method=average scale=2",
      "18860c9d6a589209ea4b02d153b11847f9e7ea4c10519021aab32ee56bb543ad" },
  { PICTURE ("graf1.png") "spectralpca",
      "b51fd433cbb5331c366ac8cb64a92f1977335cc6bb11ff19a7ffb2be302c84f3" },
  { PICTURE ("graf1.png") "spectralpca mode=second-moments",
      "7bdc26aa86c2aab9a3e0ae9fbc1ad496a837e3e701c271e9bae8b9829fda5d7c" },
  { PICTURE ("graf1.png") "ldpdescriptor",
      "3c9ac585e482a1965a65b3fff6be3965f969fe65618a5f50090a91abd75faa38" },
  { PICTURE ("graf1.png") "ldpdescriptor order=3 bins=uniform",
      "131eb13c108c81c2b48a968e71f9da428430a5ae406e7ab4a38a284b59c96550" },
  { TWO_PICTURES "spectralntf window=2 hop=2 rank=3 iterations=5",
      "47876d834ee66405ad0fe549b1bfdd75c0b06ecd27353c1cb00c30f59b78782e" },
  { TWO_PICTURES
      "spectralntf window=2 hop=2 rank=3 iterations=5 algorithm=hals",
      "bd774171c79791029e7643ff0dbb81ba7d24c36edcb254f331ba2c9d3595b710" },
};

/* Plays a pipeline. cuv_play() would change its properties. */
static void
play (const gchar *line)
{
  GError *error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (line, &error);
  gchar *problem;

  fail_unless (error == NULL, "%s: %s", line, error ? error->message : "");
  problem = cuv_pipeline_play (pipeline);
  fail_unless (problem == NULL, "%s: %s", line, problem);
}

/* Reads the results, without the time of day. */
static gchar *
read_results (void)
{
  GRegex *clock = g_regex_new ("\"wallclock\":\"[^\"]*\"", 0, 0, NULL);
  gchar *text, *result;

  fail_unless (g_file_get_contents ("results", &text, NULL, NULL));
  result = g_regex_replace (clock, text, -1, 0, "", 0, NULL);
  g_free (text);
  g_regex_unref (clock);
  return result;
}

CUV_LOOP_TEST (same_results, G_N_ELEMENTS (cases))
{
  GString *line = g_string_new (cases[__i__].line);
  gchar *data = cuv_test_file (""), *text, *sha256;

  g_string_replace (line, "DATA", data, 0);
  g_string_replace (line, "IMAGES", g_getenv ("CUV_TEST_IMAGES"), 0);
  g_string_append (line, " ! visionpublish file-path=results ! fakesink");
  cuv_folder_enter ();
  play (line->str);
  text = read_results ();
  cuv_folder_leave ();
  sha256 = g_compute_checksum_for_string (G_CHECKSUM_SHA256, text, -1);
  fail_unless (strcmp (sha256, cases[__i__].sha256) == 0, "%s\n%s\nchecksum %s",
      line->str, text, sha256);
  g_free (sha256);
  g_free (text);
  g_free (data);
  g_string_free (line, TRUE);
}
