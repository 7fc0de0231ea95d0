/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* OpenCV's WBDetector as a program, as Python has no binding for it.
 *
 *   wbd-oracle train FACES BACKGROUNDS MODEL
 *       trains with the pictures of 24x24 in the folder FACES and those in
 *       BACKGROUNDS
 *   wbd-oracle detect PICTURE MODEL...
 *       prints for each model a line with the number of boxes, then a line for
 *       each box: x y width height confidence
 */
#include <cstdio>
#include <cstring>
#include <vector>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/xobjdetect.hpp>

using cv::xobjdetect::WBDetector;

static void
train (const char *faces, const char *backgrounds, const char *model)
{
  cv::Ptr<WBDetector> detector = WBDetector::create ();
  cv::FileStorage file (model, cv::FileStorage::WRITE);

  detector->train (faces, backgrounds);
  file << "waldboost";
  detector->write (file);
}

static void
detect (const cv::Mat &grey, const char *model)
{
  cv::Ptr<WBDetector> detector = WBDetector::create ();
  cv::FileStorage file (model, cv::FileStorage::READ);
  std::vector<cv::Rect> boxes;
  std::vector<double> confidences;

  detector->read (file.getFirstTopLevelNode ());
  detector->detect (grey, boxes, confidences);
  printf ("%zu\n", boxes.size ());
  for (size_t i = 0; i < boxes.size (); i++)
    printf ("%d %d %d %d %.17g\n", boxes[i].x, boxes[i].y, boxes[i].width,
        boxes[i].height, confidences[i]);
}

int
main (int argc, char **argv)
{
  if (argc == 5 && strcmp (argv[1], "train") == 0) {
    train (argv[2], argv[3], argv[4]);
  } else if (argc >= 4 && strcmp (argv[1], "detect") == 0) {
    cv::Mat grey = cv::imread (argv[2], cv::IMREAD_GRAYSCALE);

    for (int i = 3; i < argc; i++)
      detect (grey, argv[i]);
  } else {
    fputs ("usage: see the top of wbd-oracle.cpp\n", stderr);
    return 1;
  }
  return 0;
}
