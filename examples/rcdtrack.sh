#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Follows the first face of a film, into followed.avi.
film=${1:-/usr/share/doc/opencv-doc/examples/data/Megamind.avi}
exec gst-launch-1.0 -q filesrc "location=$film" ! decodebin ! videoconvert \
  ! waldboostdetect model=lbpcascade_frontalface_improved.xml label=face \
      inference-interval=25 \
  ! rcdtrack ! visionoverlay ! videoconvert ! jpegenc ! avimux \
  ! filesink location=followed.avi
