/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The keys of a header that have fields in CuvEnvi; shared by its parser's
 * files. */
#ifndef CUV_ENVI_KEYS_H
#define CUV_ENVI_KEYS_H

#include "format/envi-reader.h"
#include "format/envi.h"

enum {
  CUV_ENVI_KEY_SAMPLES,
  CUV_ENVI_KEY_LINES,
  CUV_ENVI_KEY_BANDS,
  CUV_ENVI_KEY_HEADER_OFFSET,
  CUV_ENVI_KEY_FILE_TYPE,
  CUV_ENVI_KEY_DATA_TYPE,
  CUV_ENVI_KEY_INTERLEAVE,
  CUV_ENVI_KEY_BYTE_ORDER,
  CUV_ENVI_KEY_WAVELENGTH,
  CUV_ENVI_KEY_WAVELENGTH_UNITS,
  CUV_ENVI_KEY_FWHM,
  CUV_ENVI_KEY_BAND_NAMES,
  CUV_ENVI_KEY_BBL,
  CUV_ENVI_KEY_IGNORE_VALUE,
  CUV_ENVI_KEY_COMPRESSION,
  CUV_ENVI_KEY_MAJOR_OFFSETS,
  CUV_ENVI_KEY_MINOR_OFFSETS,
  CUV_ENVI_N_KEYS,
};

/* Reads the wavelengths and widths of bands. On failure returns false and sets
 * reader's error. */
bool cuv_envi_read_lengths (CuvEnvi *envi, CuvEnviReader *reader);

#endif
