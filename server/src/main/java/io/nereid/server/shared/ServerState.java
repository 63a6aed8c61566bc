package io.nereid.server.shared;

import io.nereid.Nereid;
import io.nereid.server.memory.SharedMemoryRegions;

/** One running server, as all its frontends see it. Make one with {@link #builder}. */
public final class ServerState {

  private final Nereid nereid;
  private final ServerHealth health;
  private final SharedMemoryRegions sharedMemory;

  private ServerState(Builder builder) {
    nereid = builder.nereid;
    health = new ServerHealth(nereid, builder.strictReadiness, builder.loading);
    sharedMemory = new SharedMemoryRegions(builder.allowClientShm);
  }

  /** For a runtime; it stays the caller's to close. */
  public static Builder builder(Nereid nereid) {
    return new Builder(nereid);
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

  /** Builds a {@link ServerState}. */
  public static final class Builder {
    private final Nereid nereid;
    private boolean strictReadiness = true;
    private boolean allowClientShm;
    private boolean loading;

    private Builder(Nereid nereid) {
      this.nereid = nereid;
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
