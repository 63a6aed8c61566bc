package io.nereid.server.shared;

import io.nereid.Nereid;
import io.nereid.server.log.AccessLog;
import io.nereid.server.log.LogSettings;
import io.nereid.server.memory.CudaRegions;
import io.nereid.server.memory.SharedMemoryRegions;
import io.nereid.server.trace.TraceOptions;
import io.nereid.server.trace.Tracing;
import java.util.Optional;

/** One running server, as all its frontends see it. Make one with {@link #builder}. */
public final class ServerState {

  private final String name;
  private final Nereid nereid;
  private final ServerHealth health;
  private final SharedMemoryRegions sharedMemory;
  private final CudaRegions cudaMemory;
  private final Tracing tracing;
  private final Optional<LoadReport> load;
  private final Optional<LogSettings> log;
  private final Optional<AccessLog> accessLog;
  private final HeapBudget heap = HeapBudget.ofThisProcess();
  private final Frontends frontends = new Frontends();
  private final ExecutionPace.Table paces = new ExecutionPace.Table();

  private ServerState(Builder builder) {
    name = builder.name;
    nereid = builder.nereid;
    sharedMemory = new SharedMemoryRegions(builder.allowClientShm);
    cudaMemory = new CudaRegions(sharedMemory, nereid::pageLockPool);
    tracing = builder.tracing;
    load = builder.load;
    log = builder.log;
    accessLog = builder.accessLog;
    health = new ServerHealth(nereid, builder.strictReadiness, builder.loading);
  }

  /** For a runtime; it stays the caller's to close. */
  public static Builder builder(Nereid nereid) {
    return new Builder(nereid);
  }

  /** What the server calls itself to clients. */
  public String name() {
    return name;
  }

  /** The models. */
  public Nereid nereid() {
    return nereid;
  }

  /** Whether requests are taken. */
  public ServerHealth health() {
    return health;
  }

  /** What clients registered. */
  public SharedMemoryRegions sharedMemory() {
    return sharedMemory;
  }

  /** What of it is on GPUs. */
  public CudaRegions cudaMemory() {
    return cudaMemory;
  }

  /** Which requests are traced. */
  public Tracing tracing() {
    return tracing;
  }

  /** How loaded it is, where clients are told. */
  public Optional<LoadReport> load() {
    return load;
  }

  /** The log, as far as it is the server's. */
  public Optional<LogSettings> log() {
    return log;
  }

  /** What gets a line for each request, if anything does. */
  public Optional<AccessLog> accessLog() {
    return accessLog;
  }

  /** The frontends that listen. */
  public Frontends frontends() {
    return frontends;
  }

  /** What connections and requests may hold of the heap, whatever frontend they came through. */
  public HeapBudget heap() {
    return heap;
  }

  /** How quick the models are. */
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
    private Optional<LoadReport> load = Optional.empty();
    private Optional<LogSettings> log = Optional.empty();
    private Optional<AccessLog> accessLog = Optional.empty();
    private boolean loading;

    private Builder(Nereid nereid) {
      this.nereid = nereid;
    }

    /** What the server calls itself to clients. */
    public Builder name(String told) {
      name = told;
      return this;
    }

    /** Whether a model that is broken or still loading makes the server not ready. */
    public Builder strictReadiness(boolean strict) {
      strictReadiness = strict;
      return this;
    }

    /** Whether clients may register shared memory; by default they may not. */
    public Builder allowClientShm(boolean allowed) {
      allowClientShm = allowed;
      return this;
    }

    /** Which requests are traced: none by default; it stays the caller's to close. */
    public Builder tracing(Tracing traces) {
      tracing = traces;
      return this;
    }

    /** How loaded the server is; by default clients are not told. */
    public Builder load(Optional<LoadReport> report) {
      load = report;
      return this;
    }

    /** The log, which clients may then change the settings of. */
    public Builder log(Optional<LogSettings> settings) {
      log = settings;
      return this;
    }

    /** What gets a line for each request. */
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
