// acl.media, acl.himpi, acl.blas and acl.fv: hardware units of a card, which a host does not have.
// Every function returns 200001; those that create or get a value return 0.
#include "acl/acl.h"
#include "acl/ops/acl_cblas.h"
#include "acl/ops/acl_dvpp.h"
#include "acl/ops/acl_fv.h"
#include "runtime/python/bind.hpp"

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

namespace msprof::python {

namespace {

// Classifies media functions by name: "vdec_create_channel_desc" returns a handle,
// "vdec_get_channel_desc_channel_id" a value, "vdec_create_channel" a code.
bool media_gives_value(std::string_view name) {
  const bool creates = name.find("_create_") != std::string_view::npos;
  return name.find("_get_") != std::string_view::npos ||
         (creates && !name.ends_with("_create_channel"));
}

// Defines functions of the module on first use, for all names that start with one of `prefixes`. A
// function returns 0 if `gives_value` is true for its name, else 200001, and prints its name on
// stderr at its first call.
void refuse_all(py::module_& module, std::vector<std::string> prefixes,
                bool (*gives_value)(std::string_view)) {
  const auto find = [prefixes = std::move(prefixes), module = module.ptr(),
                     gives_value](const std::string& name) -> py::object {
    const bool is_one = std::any_of(prefixes.begin(), prefixes.end(),
                                    [&](const auto& prefix) { return name.starts_with(prefix); });
    const std::string whole =
        std::string(py::str(py::handle(module).attr("__name__"))) + "." + name;
    if (name.starts_with("_") || !is_one) throw py::attribute_error(whole + " is not a function");
    const aclError code = gives_value(name) ? ACL_SUCCESS : ACL_ERROR_API_NOT_SUPPORT;
    const auto said = std::make_shared<bool>(false);
    const auto refuse = [code, whole, said](const py::args&, const py::kwargs&) {
      if (!std::exchange(*said, true))
        aclAppLog(ACL_ERROR, "python", "python", 0, "%s is not supported on a Linux host",
                  whole.c_str());
      return code;
    };
    const py::cpp_function function(refuse, py::name(name.c_str()));
    py::handle(module).attr(name.c_str()) = function;
    return function;
  };
  // Python calls this function for names that the module does not define (PEP 562).
  module.def("__getattr__", find);
}

}  // namespace

void define_blas(py::module_& blas) {
  plain<aclblasGemvEx>(blas, "gemv_ex");
  last_out<aclblasCreateHandleForGemvEx>(blas, "create_handle_for_gemv_ex");
  plain<aclblasHgemv>(blas, "hgemv");
  last_out<aclblasCreateHandleForHgemv>(blas, "create_handle_for_hgemv");
  plain<aclblasS8gemv>(blas, "s8gemv");
  last_out<aclblasCreateHandleForS8gemv>(blas, "create_handle_for_s8gemv");
  plain<aclblasGemmEx>(blas, "gemm_ex");
  last_out<aclblasCreateHandleForGemmEx>(blas, "create_handle_for_gemm_ex");
  plain<aclblasHgemm>(blas, "hgemm");
  last_out<aclblasCreateHandleForHgemm>(blas, "create_handle_for_hgemm");
  plain<aclblasS8gemm>(blas, "s8gemm");
  last_out<aclblasCreateHandleForS8gemm>(blas, "create_handle_for_s8gemm");
}

void define_search(py::module_& fv) {
  plain<aclfvCreateInitPara>(fv, "create_init_para");
  plain<aclfvDestroyInitPara>(fv, "destroy_init_para");
  plain<aclfvDestroyInitPara>(fv, "destory_init_para");  // pyACL has both spellings
  plain<aclfvSet1NTopNum>(fv, "set_1n_top_num");
  plain<aclfvSetNMTopNum>(fv, "set_nm_top_num");
  plain<aclfvCreateFeatureInfo>(fv, "create_feature_info");
  plain<aclfvDestroyFeatureInfo>(fv, "destroy_feature_info");
  plain<aclfvCreateRepoRange>(fv, "create_repo_range");
  plain<aclfvDestroyRepoRange>(fv, "destroy_repo_range");
  plain<aclfvCreateQueryTable>(fv, "create_query_table");
  plain<aclfvDestroyQueryTable>(fv, "destroy_query_table");
  plain<aclfvCreateSearchInput>(fv, "create_search_input");
  plain<aclfvDestroySearchInput>(fv, "destroy_search_input");
  plain<aclfvCreateSearchResult>(fv, "create_search_result");
  plain<aclfvDestroySearchResult>(fv, "destroy_search_result");
  plain<aclfvInit>(fv, "init");
  plain<aclfvRelease>(fv, "release");
  plain<aclfvRepoAdd>(fv, "repo_add");
  plain<aclfvRepoDel>(fv, "repo_del");
  plain<aclfvDel>(fv, "delete");
  plain<aclfvModify>(fv, "modify");
  plain<aclfvSearch>(fv, "search");
}

void define_himpi(py::module_& himpi) {
  refuse_all(himpi, {""}, [](std::string_view) { return false; });
}

void define_media(py::module_& media) {
  refuse_all(media, {"vdec_", "venc_", "dvpp_"}, media_gives_value);
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
