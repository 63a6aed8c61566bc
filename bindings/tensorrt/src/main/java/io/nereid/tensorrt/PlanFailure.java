package io.nereid.tensorrt;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Makes the exception for a plan that cannot be used, with advice. TensorRT only returns null; the
 * reasons are in its log.
 */
record PlanFailure(String model, Path plan, TensorRtVersion installed, Gpu device) {

  private static final Pattern OTHER_DEVICE =
      Pattern.compile("incompatible device, expecting compute ([0-9.]+) got compute ([0-9.]+)");
  private static final Pattern OLD_DEVICE =
      Pattern.compile("Expected compute capability >= *([0-9.]*[0-9])");
  private static final Pattern OTHER_VERSION =
      Pattern.compile(
          "expecting library version ([0-9.]+) got (?:version )?([0-9.]*[0-9])"
              + "|Version tag does not match[^;]*");

  /** The failure of a plan that no supported TensorRT can read, for the given reason. */
  static NereidException unusable(String model, Path plan, String why) {
    return unusableWeights(model, plan, why + ": " + buildCommand(TensorRtMajor.HERE, plan));
  }

  static NereidException unusableWeights(String model, Path plan, String why) {
    return new NereidException(StatusCode.FAILED_PRECONDITION, title(model, plan) + why);
  }

  static String buildCommand(TensorRtMajor major, Path plan) {
    return major.setting() + "./nereid build model.onnx -o " + plan;
  }

  /** The failure of a plan that another version built and that has no code to run itself. */
  NereidException otherVersion(TensorRtVersion builtBy) {
    if (builtBy.major() == OtherMajor.MAJOR.number() && OtherMajor.find().isEmpty()) {
      return failure(
          ("the plan was built by TensorRT %s, and there are classes for %s alone:"
                  + " expected JavaCPP's jars for TensorRT %s in %s (-D%s names another"
                  + " directory). Or rebuild it")
              .formatted(
                  builtBy,
                  installed,
                  builtBy.major(),
                  OtherMajor.directory(),
                  OtherMajor.PROPERTY));
    }
    return failure(
        ("the plan was built by TensorRT %s, and the one here is %s: rebuild it. A plan"
                + " that was built to be version-compatible needs the parameter"
                + " version_compatible: \"true\"; the command")
            .formatted(builtBy, installed));
  }

  /** The failure of reading a plan, from TensorRT's log. */
  NereidException unreadable(Optional<TensorRtVersion> builtBy, List<String> log) {
    String all = String.join("; ", log);
    Matcher otherDevice = OTHER_DEVICE.matcher(all);
    if (otherDevice.find()) {
      return otherDevice(other(otherDevice, device.computeCapability()));
    }
    Matcher oldDevice = OLD_DEVICE.matcher(all);
    if (oldDevice.find()) {
      return otherDevice(oldDevice.group(1) + " or newer");
    }
    if (all.contains("getEngineHostCodeAllowed")) {
      return failure(
          "the plan brings code of its own to run it, for which it needs the parameter"
              + " version_compatible: \"true\" (only if you trust it); the command that builds one"
              + " without");
    }
    if (all.contains("Platform specific tag mismatch")) {
      return failure(
          "the plan was built on another operating system or processor: rebuild it here");
    }
    Matcher otherVersion = OTHER_VERSION.matcher(all);
    if (otherVersion.find()) {
      return failure(
          "the plan was built by TensorRT %s, and the one here is %s (%s): rebuild it"
              .formatted(
                  builtBy.map(TensorRtVersion::toString).orElse("of another version"),
                  installed,
                  otherVersion.group()));
    }
    if (TensorRtLog.isOutOfMemory(all)) {
      return new NereidException(
          StatusCode.RESOURCE_EXHAUSTED,
          "%sGPU %s (%s) is out of memory: %s"
              .formatted(title(model, plan), device.number(), device.name(), all));
    }
    return failure(
        ("TensorRT %s cannot read the plan%s: %s; if it is of another version or GPU,"
                + " rebuild it")
            .formatted(
                installed,
                builtBy.map(version -> " of TensorRT " + version).orElse(""),
                all.isEmpty() ? "it did not say why" : all));
  }

  private NereidException otherDevice(String capability) {
    return failure(
        ("the plan was built for GPUs of compute capability %s, and GPU %s (%s) has %s: rebuild"
                + " it on such a GPU")
            .formatted(capability, device.number(), device.name(), device.computeCapability()));
  }

  /**
   * Returns the one of two matches that is not this device's; their order depends on the version.
   */
  private static String other(Matcher matcher, String own) {
    return matcher.group(1).equals(own) ? matcher.group(2) : matcher.group(1);
  }

  private NereidException failure(String message) {
    return unusable(model, plan, message);
  }

  private static String title(String model, Path plan) {
    return "model '" + model + "' (" + plan + "): ";
  }
}
