// Plugin of scripts/lint: restricts clang-tidy to declarations outside system headers. Nine tenths
// of a source's declarations come from the standard library, and findings in them are never shown.
// (clang-tidy 14 has no option for this.)
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendPluginRegistry.h>

#include <memory>
#include <string>
#include <vector>

namespace {

class OwnDeclarations : public clang::ASTConsumer {
 public:
  void HandleTranslationUnit(clang::ASTContext& context) override {
    const clang::SourceManager& sources = context.getSourceManager();
    std::vector<clang::Decl*> own;
    for (clang::Decl* declared : context.getTranslationUnitDecl()->noload_decls())
      if (!sources.isInSystemHeader(sources.getExpansionLoc(declared->getLocation())))
        own.push_back(declared);
    context.setTraversalScope(own);
  }
};

class OwnDeclarationsAction : public clang::PluginASTAction {
 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&,
                                                        llvm::StringRef) override {
    return std::make_unique<OwnDeclarations>();
  }
  bool ParseArgs(const clang::CompilerInstance&, const std::vector<std::string>&) override {
    return true;
  }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

const clang::FrontendPluginRegistry::Add<OwnDeclarationsAction> registration("own-declarations",
                                                                             "");

}  // namespace
