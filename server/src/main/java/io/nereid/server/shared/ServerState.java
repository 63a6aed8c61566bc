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

  /** A builder for a runtime, which the caller closes. */
  public static Builder builder(Nereid nereid) {
    return new Builder(nereid);
  }

  /** The server's name for clients. */
  public String name() {
    return name;
  }

  /** The models. */
  public Nereid nereid() {
    return nereid;
  }

  /** The health of the server and its models. */
  public ServerHealth health() {
    return health;
  }

  /** The shared memory that clients registered. */
  public SharedMemoryRegions sharedMemory() {
    return sharedMemory;
  }

  /** The regions of shared memory that are on GPUs. */
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

  /** The report of the server's load; empty: clients get none. */
  public Optional<LoadReport> load() {
    return load;
  }

  /** The log; empty: it does not belong to the server. */
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

  /** Counts tensors that were refused because too many others are arriving. */
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

    /** The server's name for clients. */
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

    /** The tracing of requests: none by default; the caller closes it. */
    public Builder tracing(Tracing traces) {
      tracing = traces;
      return this;
    }

    /** The way in which requests can be recorded; by default they cannot. */
    public Builder recording(Optional<RecordingOptions> how) {
      recording = how;
      return this;
    }

    /** The way in which shadows are compared; by default with the default options. */
    public Builder shadow(ShadowOptions how) {
      shadow = how;
      return this;
    }

    /** The report of the server's load; by default clients get none. */
    public Builder load(Optional<LoadReport> report) {
      load = report;
      return this;
    }

    /** The log, whose settings clients may then change. */
    public Builder log(Optional<LogSettings> settings) {
      log = settings;
      return this;
    }

    /** The log with a line for each request. */
    public Builder accessLog(Optional<AccessLog> lines) {
      accessLog = lines;
      return this;
    }

    /** Says that models are still to be loaded, until {@link ServerHealth#loaded}. */
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
