// acl.media: decoders and scalers, which a host does not have: every function gives 200001, and
// what creates gives 0.
#include "acl/ops/acl_dvpp.h"
#include "runtime/python/bind.hpp"

namespace msprof::python {

void define_media(py::module_& media) {
  first_out<acldvppMalloc>(media, "dvpp_malloc");
  plain<acldvppFree>(media, "dvpp_free");
  plain<acldvppCreateChannelDesc>(media, "dvpp_create_channel_desc");
  plain<acldvppDestroyChannelDesc>(media, "dvpp_destroy_channel_desc");
  plain<acldvppCreateChannel>(media, "dvpp_create_channel");
  plain<acldvppDestroyChannel>(media, "dvpp_destroy_channel");
  plain<acldvppCreatePicDesc>(media, "dvpp_create_pic_desc");
  plain<acldvppDestroyPicDesc>(media, "dvpp_destroy_pic_desc");
  plain<acldvppSetPicDescData>(media, "dvpp_set_pic_desc_data");
  plain<acldvppSetPicDescSize>(media, "dvpp_set_pic_desc_size");
  plain<acldvppSetPicDescFormat>(media, "dvpp_set_pic_desc_format");
  plain<acldvppSetPicDescWidth>(media, "dvpp_set_pic_desc_width");
  plain<acldvppSetPicDescHeight>(media, "dvpp_set_pic_desc_height");
  plain<acldvppSetPicDescWidthStride>(media, "dvpp_set_pic_desc_width_stride");
  plain<acldvppSetPicDescHeightStride>(media, "dvpp_set_pic_desc_height_stride");
  plain<acldvppCreateRoiConfig>(media, "dvpp_create_roi_config");
  plain<acldvppDestroyRoiConfig>(media, "dvpp_destroy_roi_config");
  plain<acldvppCreateResizeConfig>(media, "dvpp_create_resize_config");
  plain<acldvppDestroyResizeConfig>(media, "dvpp_destroy_resize_config");
  plain<acldvppVpcResizeAsync>(media, "dvpp_vpc_resize_async");
  plain<acldvppVpcCropAsync>(media, "dvpp_vpc_crop_async");
  plain<acldvppVpcCropAndPasteAsync>(media, "dvpp_vpc_crop_and_paste_async");
  last_out<acldvppJpegPredictDecSize>(media, "dvpp_jpeg_predict_dec_size");
  plain<acldvppJpegDecodeAsync>(media, "dvpp_jpeg_decode_async");
  plain<acldvppCreateJpegeConfig>(media, "dvpp_create_jpege_config");
  plain<acldvppDestroyJpegeConfig>(media, "dvpp_destroy_jpege_config");
  last_out<acldvppJpegPredictEncSize>(media, "dvpp_jpeg_predict_enc_size");
  plain<acldvppJpegEncodeAsync>(media, "dvpp_jpeg_encode_async");
}

}  // namespace msprof::python
