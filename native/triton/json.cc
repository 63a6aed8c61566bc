#include "triton/json.h"

#include <algorithm>
#include <charconv>

namespace nereid::triton {

// Parses the text in one pass.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  Status Read(Json* out) {
    NRD_RETURN_IF_ERROR(Value(out, 0));
    Skip();
    return at_ == text_.size() ? Status() : Wrong("the end");
  }

 private:
  static constexpr int kDeepest = 64;

  [[nodiscard]] Status Wrong(std::string_view expected) const {
    return Status::InvalidArgument("JSON: expected " + std::string(expected) + " at byte " +
                                   std::to_string(at_));
  }

  void Skip() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
      ++at_;
    }
  }

  bool Take(char wanted) {
    Skip();
    if (at_ < text_.size() && text_[at_] == wanted) {
      ++at_;
      return true;
    }
    return false;
  }

  Status Value(Json* out, int depth) {
    Skip();
    const size_t begin = at_;
    if (depth > kDeepest) {
      return Wrong("less depth");
    }
    if (Take('{')) {
      NRD_RETURN_IF_ERROR(Members('}', out, depth));
    } else if (Take('[')) {
      NRD_RETURN_IF_ERROR(Members(']', out, depth));
    } else if (Take('"')) {
      NRD_RETURN_IF_ERROR(Text(&out->text_));
    } else {
      while (at_ < text_.size() &&
             std::string_view(" \t\r\n,]}:").find(text_[at_]) == std::string_view::npos) {
        ++at_;
      }
      if (at_ == begin) {
        return Wrong("a value");
      }
    }
    out->raw_ = text_.substr(begin, at_ - begin);
    return Status();
  }

  // Reads the members of an object or an array, behind its bracket.
  Status Members(char end, Json* out, int depth) {
    if (Take(end)) {
      return Status();
    }
    do {
      if (end == '}') {
        if (!Take('"')) {
          return Wrong("a name");
        }
        NRD_RETURN_IF_ERROR(Text(&out->names_.emplace_back()));
        if (!Take(':')) {
          return Wrong("':'");
        }
      }
      NRD_RETURN_IF_ERROR(Value(&out->items_.emplace_back(), depth + 1));
    } while (Take(','));
    return Take(end) ? Status() : Wrong("',' or the closing bracket");
  }

  Status Text(std::string* out) {
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] != '\\') {
        out->push_back(text_[at_++]);
        continue;
      }
      ++at_;
      NRD_RETURN_IF_ERROR(Escape(out));
    }
    return at_ < text_.size() && text_[at_++] == '"' ? Status() : Wrong("'\"'");
  }

  Status Escape(std::string* out) {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (at_ >= text_.size()) {
      return Wrong("an escape");
    }
    const char name = text_[at_++];
    if (const size_t known = kNames.find(name); known != std::string_view::npos) {
      out->push_back(kMeanings[known]);
      return Status();
    }
    uint32_t unit = 0;
    if (name != 'u' || !Unit(&unit)) {
      return Wrong("an escape");
    }
    if (unit >= 0xD800 && unit < 0xDC00 && text_.substr(at_, 2) == "\\u") {
      at_ += 2;
      uint32_t low = 0;
      if (!Unit(&low)) {
        return Wrong("an escape");
      }
      unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    }
    AppendUtf8(unit, out);
    return Status();
  }

  bool Unit(uint32_t* out) {
    const std::string_view digits = text_.substr(at_, 4);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), *out, 16);
    at_ += digits.size();
    return error == std::errc() && end == digits.data() + 4;
  }

  static void AppendUtf8(uint32_t unit, std::string* out) {
    if (unit < 0x80) {
      out->push_back(static_cast<char>(unit));
      return;
    }
    const int more = unit < 0x800 ? 1 : unit < 0x10000 ? 2 : 3;
    constexpr uint32_t kFirst[] = {0, 0xC0, 0xE0, 0xF0};
    out->push_back(static_cast<char>(kFirst[more] | (unit >> (6 * more))));
    for (int i = more - 1; i >= 0; --i) {
      out->push_back(static_cast<char>(0x80 | ((unit >> (6 * i)) & 0x3F)));
    }
  }

  const std::string_view text_;
  size_t at_ = 0;
};

Status Json::Parse(std::string_view text, Json* out) {
  *out = Json();
  return JsonReader(text).Read(out);
}

const Json& Json::operator[](std::string_view name) const {
  static const Json none;
  const auto found = std::find(names_.begin(), names_.end(), name);
  return found == names_.end() ? none : items_[static_cast<size_t>(found - names_.begin())];
}

int64_t Json::Number(int64_t otherwise) const {
  int64_t number = otherwise;
  std::from_chars(raw_.data(), raw_.data() + raw_.size(), number);
  return number;
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      constexpr char kDigits[] = "0123456789abcdef";
      quoted += "\\u00";
      quoted += kDigits[c >> 4];
      quoted += kDigits[c & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace nereid::triton
