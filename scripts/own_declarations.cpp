// Plugin of scripts/lint: clang-tidy looks at declarations outside of system headers alone. Those
// of the library are nine tenths of what a source declares, and no finding in them is shown.
// (clang-tidy 14 has no option for it.)
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
