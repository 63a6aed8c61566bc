package io.nereid.server.shared;

import io.nereid.Nereid;
import io.nereid.recording.RecordingOptions;
import io.nereid.recording.ShadowOptions;
import io.nereid.server.log.AccessLog;
import io.nereid.server.log.LogSettings;
import io.nereid.server.memory.CudaRegions;
import io.nereid.server.memory.SharedMemoryRegions;
import io.nereid.server.trace.TraceOptions;
import io.nereid.server.trace.Tracing;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;

/** One running server, as all its frontends see it. Make one with {@link #builder}. */
public final class ServerState {

  private final String name;
  private final Nereid nereid;
  private final ServerHealth health;
  private final SharedMemoryRegions sharedMemory;
  private final CudaRegions cudaMemory;
  private final Tracing tracing;
  private final RecordingSwitch recording;
  private final Shadows shadows;
  private final Optional<LoadReport> load;
  private final Optional<LogSettings> log;
  private final Optional<AccessLog> accessLog;
  private final HeapBudget heap = HeapBudget.ofThisProcess();
  private final Frontends frontends = new Frontends();
  private final AnswerCounts httpAnswers = new AnswerCounts();
  private final AnswerCounts grpcAnswers = new AnswerCounts();
  private final LongAdder refusedTensors = new LongAdder();
  private final LoadFailures loadFailures = new LoadFailures();
  private final ExecutionPace.Table paces = new ExecutionPace.Table();

  private ServerState(Builder builder) {
    name = builder.name;
    nereid = builder.nereid;
    sharedMemory = new SharedMemoryRegions(builder.allowClientShm);
    cudaMemory = new CudaRegions(sharedMemory, nereid::pageLockPool);
    tracing = builder.tracing;
    recording = new RecordingSwitch(nereid, builder.recording);
    load = builder.load;
    log = builder.log;
    accessLog = builder.accessLog;
    nereid.addListener(loadFailures);
    shadows = new Shadows(nereid, builder.shadow);
    nereid.addListener(shadows);
    health = new ServerHealth(nereid, builder.strictReadiness, builder.loading);
  }

  /** For a runtime; it stays the caller's to close. */
  public static Builder builder(Nereid nereid) {
    return new Builder(nereid);
  }

  /** The name that the server tells clients. */
  public String name() {
    return name;
  }

  /** The models. */
  public Nereid nereid() {
    return nereid;
  }

  /** True if requests are taken. */
  public ServerHealth health() {
    return health;
  }

  /** The shared memory that clients registered. */
  public SharedMemoryRegions sharedMemory() {
    return sharedMemory;
  }

  /** The part of it that is on GPUs. */
  public CudaRegions cudaMemory() {
    return cudaMemory;
  }

  /** The tracing of requests. */
  public Tracing tracing() {
    return tracing;
  }

  /** The recording of requests. */
  public RecordingSwitch recording() {
    return recording;
  }

  /** The comparison of shadows with their primaries. */
  public Shadows shadows() {
    return shadows;
  }

  /** The report of its load, where clients are told. */
  public Optional<LoadReport> load() {
    return load;
  }

  /** The log, as far as it is the server's. */
  public Optional<LogSettings> log() {
    return log;
  }

  /** The log with a line for each request, if there is one. */
  public Optional<AccessLog> accessLog() {
    return accessLog;
  }

  /** The frontends that listen. */
  public Frontends frontends() {
    return frontends;
  }

  /** The counts of all answers over HTTP. */
  public AnswerCounts httpAnswers() {
    return httpAnswers;
  }

  /** The counts of all answers over gRPC. */
  public AnswerCounts grpcAnswers() {
    return grpcAnswers;
  }

  /** The counts of loads that failed. */
  public LoadFailures loadFailures() {
    return loadFailures;
  }

  /** The heap that connections and requests of all frontends may hold. */
  public HeapBudget heap() {
    return heap;
  }

  /** Counts tensors that were refused because others are being sent. */
  public LongAdder refusedTensors() {
    return refusedTensors;
  }

  /** The paces of the models. */
  public ExecutionPace.Table paces() {
    return paces;
  }

  /** Builds a {@link ServerState}. */
  public static final class Builder {
    private final Nereid nereid;
    private String name = ServerFacts.DEFAULT_NAME;
    private boolean strictReadiness = true;
    private boolean allowClientShm;
    private Tracing tracing = new Tracing(TraceOptions.OFF);
    private Optional<RecordingOptions> recording = Optional.empty();
    private ShadowOptions shadow = ShadowOptions.DEFAULT;
    private Optional<LoadReport> load = Optional.empty();
    private Optional<LogSettings> log = Optional.empty();
    private Optional<AccessLog> accessLog = Optional.empty();
    private boolean loading;

    private Builder(Nereid nereid) {
      this.nereid = nereid;
    }

    /** The name that the server tells clients. */
    public Builder name(String told) {
      name = told;
      return this;
    }

    /** True if a model that never was loaded, or is still loading, makes the server not ready. */
    public Builder strictReadiness(boolean strict) {
      strictReadiness = strict;
      return this;
    }

    /** True if clients may register shared memory; by default they may not. */
    public Builder allowClientShm(boolean allowed) {
      allowClientShm = allowed;
      return this;
    }

    /** The tracing of requests: none by default; it stays the caller's to close. */
    public Builder tracing(Tracing traces) {
      tracing = traces;
      return this;
    }

    /** The way in which requests can be recorded; by default they cannot. */
    public Builder recording(Optional<RecordingOptions> how) {
      recording = how;
      return this;
    }

    /** The way in which shadows are compared; those of the default options by default. */
    public Builder shadow(ShadowOptions how) {
      shadow = how;
      return this;
    }

    /** The report of the server's load; by default clients are not told. */
    public Builder load(Optional<LoadReport> report) {
      load = report;
      return this;
    }

    /** The log, which clients may then change the settings of. */
    public Builder log(Optional<LogSettings> settings) {
      log = settings;
      return this;
    }

    /** The log with a line for each request. */
    public Builder accessLog(Optional<AccessLog> lines) {
      accessLog = lines;
      return this;
    }

    /** The models are still to be loaded; {@link ServerHealth#loaded} says when they are. */
    public Builder loading() {
      loading = true;
      return this;
    }

    /** The finished state. */
    public ServerState build() {
      return new ServerState(this);
    }
  }
}
