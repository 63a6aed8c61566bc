// libnvonnxparser.so: the parser of ONNX files.
#include "interfaces/parser.h"

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "import.h"
#include "interfaces/runtime.h"
#include "object.h"
#include "version.h"

namespace rehearsal::trt {

namespace {

class ParserError final : public ParserErrorCalls {
 public:
  ParserError(int node, OnnxNode of, std::string text)
      : node_(node), of_(std::move(of)), text_(std::move(text)) {}

  [[nodiscard]] std::int32_t code() const override { return kUnsupportedNode; }
  [[nodiscard]] const char* desc() const override { return text_.c_str(); }
  [[nodiscard]] const char* file() const override { return "onnx/import.cc"; }
  [[nodiscard]] std::int32_t line() const override { return 0; }
  [[nodiscard]] const char* func() const override { return "AddNode"; }
  [[nodiscard]] std::int32_t node() const override { return node_; }
  [[nodiscard]] const char* nodeName() const override { return of_.name.c_str(); }
  [[nodiscard]] const char* nodeOperator() const override { return of_.operation.c_str(); }
  [[nodiscard]] const char* const* localFunctionStack() const override { return nullptr; }
  [[nodiscard]] std::int32_t localFunctionStackSize() const override { return 0; }

 private:
  static constexpr std::int32_t kUnsupportedNode = 8;

  int node_;
  OnnxNode of_;
  std::string text_;
};

// The errors of a parser or of a refitter, which people ask for one by one.
class ParserErrors {
 public:
  void Add(int node, const OnnxNode& of, const std::string& text) {
    errors_.push_back(std::make_unique<ParserError>(node, of, text));
  }
  [[nodiscard]] std::int32_t count() const { return static_cast<std::int32_t>(errors_.size()); }
  [[nodiscard]] const ParserErrorCalls* At(std::int32_t index) const {
    bool is_one = index >= 0 && index < count();
    return is_one ? errors_[static_cast<std::size_t>(index)].get() : nullptr;
  }

 private:
  std::vector<std::unique_ptr<ParserError>> errors_;
};

std::string BytesOf(const char* file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class Parser final : public ParserCalls {
 public:
  Parser(Held* network, LoggerCalls* logger)
      : network_(network),
        log_(logger),
        life_(static_cast<ParserCalls*>(this), "TensorRT ONNX parser",
              "createNvOnnxParser_INTERNAL", nullptr) {}

  void Destruct() override { Delete(); }

  // The network's weights are the parser's memory: who builds it afterwards gets no numbers.
  void Delete() override {
    if (life_.End("~IParser")) {
      for (const std::unique_ptr<OnnxModel>& model : models_) {
        model->Spoil();
      }
      Bury(static_cast<ParserCalls*>(this));
    }
  }

  bool parseFromFile(const char* file, std::int32_t /*verbosity*/) override {
    if (!Begin(life_, log_, "IParser::parseFromFile")) {
      return false;
    }
    int number = -1;
    OnnxNode none;
    const OnnxNode* node = &none;
    try {
      models_.push_back(std::make_unique<OnnxModel>(BytesOf(file)));
      const OnnxModel& model = *models_.back();
      Import import(model, *network_);
      import.Inputs();
      for (const OnnxNode& next : model.nodes) {
        node = &next;
        ++number;
        import.AddNode(next);
      }
      number = -1;
      node = &none;
      import.Outputs();
      import.Names();
      return true;
    } catch (const std::exception& e) {
      log_.Error(std::string("ModelImporter: ") + e.what());
      errors_.Add(number, *node, e.what());
      return false;
    }
  }

  [[nodiscard]] std::int32_t getNbErrors() const override { return errors_.count(); }

  [[nodiscard]] const ParserErrorCalls* getError(std::int32_t index) const override {
    return errors_.At(index);
  }

 private:
  Held* network_;
  Log log_;
  Life life_;
  std::vector<std::unique_ptr<OnnxModel>> models_;
  ParserErrors errors_;
};

// Hands a refitter the weights of files by their names; they are its own memory until it goes.
class ParserRefitter final : public ParserRefitterCalls {
 public:
  ParserRefitter(Held* refitter, LoggerCalls* logger)
      : refitter_(static_cast<RefitterCalls*>(refitter->functions())),
        log_(logger),
        life_(static_cast<ParserRefitterCalls*>(this), "TensorRT ONNX refitter",
              "createNvOnnxParserRefitter_INTERNAL", nullptr) {}

  void Destruct() override { Delete(); }

  void Delete() override {
    if (life_.End("~IParserRefitter")) {
      for (const std::unique_ptr<OnnxModel>& model : models_) {
        model->Spoil();
      }
      Bury(static_cast<ParserRefitterCalls*>(this));
    }
  }

  bool refitFromFile(const char* file) override {
    if (!Begin(life_, log_, "IParserRefitter::refitFromFile")) {
      return false;
    }
    try {
      models_.push_back(std::make_unique<OnnxModel>(BytesOf(file)));
      std::vector<const char*> names(
          static_cast<std::size_t>(refitter_->getAllWeights(0, nullptr)));
      (void)refitter_->getAllWeights(static_cast<std::int32_t>(names.size()), names.data());
      for (const char* name : names) {
        auto found = models_.back()->tensors.find(name);
        if (found == models_.back()->tensors.end() ||
            !refitter_->setNamedWeights(name, found->second.weights())) {
          throw Refusal(std::string("Failed to refit all the weights: '") + name + "'");
        }
      }
      return true;
    } catch (const std::exception& e) {
      log_.Error(std::string("ModelRefitter: ") + e.what());
      errors_.Add(-1, OnnxNode(), e.what());
      return false;
    }
  }

  [[nodiscard]] std::int32_t getNbErrors() const override { return errors_.count(); }

  [[nodiscard]] const ParserErrorCalls* getError(std::int32_t index) const override {
    return errors_.At(index);
  }

 private:
  RefitterCalls* refitter_;
  Log log_;
  Life life_;
  std::vector<std::unique_ptr<OnnxModel>> models_;
  ParserErrors errors_;
};

}  // namespace

}  // namespace rehearsal::trt

namespace trt = rehearsal::trt;

#define REHEARSAL_API extern "C" __attribute__((visibility("default")))

REHEARSAL_API void* createNvOnnxParser_INTERNAL(void* network, void* logger,
                                                std::int32_t /*version*/) {
  auto* calls = static_cast<trt::LoggerCalls*>(logger);
  if (!trt::Begin(trt::Log(calls), "createNvOnnxParser_INTERNAL")) {
    return nullptr;
  }
  return static_cast<trt::ParserCalls*>(new trt::Parser(static_cast<trt::Held*>(network), calls));
}

REHEARSAL_API void* createNvOnnxParserRefitter_INTERNAL(void* refitter, void* logger,
                                                        std::int32_t /*version*/) {
  auto* calls = static_cast<trt::LoggerCalls*>(logger);
  if (!trt::Begin(trt::Log(calls), "createNvOnnxParserRefitter_INTERNAL")) {
    return nullptr;
  }
  return static_cast<trt::ParserRefitterCalls*>(
      new trt::ParserRefitter(static_cast<trt::Held*>(refitter), calls));
}

REHEARSAL_API std::int32_t getNvOnnxParserVersion() { return trt::kVersion; }
