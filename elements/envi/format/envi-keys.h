/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The keys of a header that have fields in CuvEnvi; shared by its parser's
 * files. */
#ifndef CUV_ENVI_KEYS_H
#define CUV_ENVI_KEYS_H

#include "format/envi-reader.h"
#include "format/envi.h"

enum {
  SAMPLES,
  LINES,
  BANDS,
  HEADER_OFFSET,
  FILE_TYPE,
  DATA_TYPE,
  INTERLEAVE,
  BYTE_ORDER_KEY,
  WAVELENGTH,
  WAVELENGTH_UNITS,
  FWHM,
  BAND_NAMES,
  BBL,
  IGNORE_VALUE,
  COMPRESSION,
  MAJOR_OFFSETS,
  MINOR_OFFSETS,
  N_KEYS,
};

/* Wavelengths and widths of bands. False with reader's error set. */
bool cuv_envi_read_lengths (CuvEnvi *envi, CuvEnviReader *reader);

#endif
