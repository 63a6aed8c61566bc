package io.nereid.tensorrt;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Says why a plan cannot be used, and what to do. TensorRT returns nothing but null; its reasons
 * are in what it logs.
 */
final class PlanFailure {

  private static final Pattern OTHER_DEVICE =
      Pattern.compile("incompatible device, expecting compute ([0-9.]+) got compute ([0-9.]+)");
  private static final Pattern OLD_DEVICE =
      Pattern.compile("Expected compute capability >= *([0-9.]*[0-9])");
  private static final Pattern OTHER_VERSION =
      Pattern.compile(
          "expecting library version ([0-9.]+) got (?:version )?([0-9.]*[0-9])"
              + "|Version tag does not match[^;]*");

  private final String model;
  private final Path plan;
  private final TensorRtVersion installed;
  private final Gpu device;

  /** For a plan that is to run with the installed version on the device. */
  PlanFailure(String model, Path plan, TensorRtVersion installed, Gpu device) {
    this.model = model;
    this.plan = plan;
    this.installed = installed;
    this.device = device;
  }

  /** No TensorRT that is served could read it, for the reason that is given. */
  static NereidException unusable(String model, Path plan, TensorRtMajor major, String why) {
    return unusable(model, plan, major, why, "");
  }

  /** The same with flags for the command that builds the plan anew. */
  static NereidException unusable(
      String model, Path plan, TensorRtMajor major, String why, String flags) {
    return unusableWeights(model, plan, why + ": " + buildCommand(major, plan) + flags);
  }

  /** The weights beside it do not fit. */
  static NereidException unusableWeights(String model, Path plan, String why) {
    return new NereidException(StatusCode.FAILED_PRECONDITION, title(model, plan) + why);
  }

  /** The command that builds a plan anew. */
  static String buildCommand(TensorRtMajor major, Path plan) {
    return major.setting() + "./nereid build model.onnx -o " + plan;
  }

  /** Another version built it, and it brings no code of its own to run it. */
  NereidException otherVersion(TensorRtVersion builtBy) {
    if (builtBy.major() == OtherMajor.number() && OtherMajor.find().isEmpty()) {
      return failure(
          "the plan was built by TensorRT "
              + builtBy
              + ", and there are classes for "
              + installed
              + " alone: expected JavaCPP's jars for TensorRT "
              + builtBy.major()
              + " in "
              + OtherMajor.directory()
              + " (-D"
              + OtherMajor.PROPERTY
              + " names another directory). Or rebuild it");
    }
    return failure(
        "the plan was built by TensorRT "
            + builtBy
            + ", and the one here is "
            + installed
            + ": rebuild it. A plan that was built to be version-compatible needs the parameter"
            + " version_compatible: \"true\"; the command");
  }

  /** Makes the failure of reading a plan, from what TensorRT logged meanwhile. */
  NereidException unreadable(Optional<TensorRtVersion> builtBy, List<String> log) {
    String all = String.join("; ", log);
    Matcher otherDevice = OTHER_DEVICE.matcher(all);
    if (otherDevice.find()) {
      return failure(
          "the plan was built for GPUs of compute capability "
              + other(otherDevice, device.computeCapability())
              + ", and "
              + hasCapability()
              + ": rebuild it on such a GPU");
    }
    Matcher oldDevice = OLD_DEVICE.matcher(all);
    if (oldDevice.find()) {
      return failure(
          "the plan was built for GPUs of compute capability "
              + oldDevice.group(1)
              + " or newer, and "
              + hasCapability()
              + ": rebuild it on such a GPU");
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
          "the plan was built by TensorRT "
              + builtBy.map(TensorRtVersion::toString).orElse("of another version")
              + ", and the one here is "
              + installed
              + " ("
              + otherVersion.group()
              + "): rebuild it");
    }
    if (isOutOfMemory(all)) {
      return new NereidException(
          StatusCode.RESOURCE_EXHAUSTED,
          title(model, plan)
              + "GPU "
              + device.number()
              + " ("
              + device.name()
              + ") is out of memory: "
              + all);
    }
    return failure(
        "TensorRT "
            + installed
            + " cannot read the plan"
            + builtBy.map(version -> " of TensorRT " + version).orElse("")
            + ": "
            + (all.isEmpty() ? "it did not say why" : all)
            + "; if it is of another version or GPU, rebuild it");
  }

  private String hasCapability() {
    return "GPU " + device.number() + " (" + device.name() + ") has " + device.computeCapability();
  }

  /** True if what TensorRT logged says that memory of the device ran out. */
  static boolean isOutOfMemory(String log) {
    return log.contains("OutOfMemory")
        || log.contains("Requested amount of GPU memory")
        || log.contains("out of memory");
  }

  /** The one of the two that is not this device's: which comes first depends on the version. */
  private static String other(Matcher matcher, String own) {
    return matcher.group(1).equals(own) ? matcher.group(2) : matcher.group(1);
  }

  private NereidException failure(String message) {
    return unusable(model, plan, TensorRtMajor.HERE, message);
  }

  private static String title(String model, Path plan) {
    return "model '" + model + "' (" + plan + "): ";
  }
}
