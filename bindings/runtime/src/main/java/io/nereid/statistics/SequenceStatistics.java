package io.nereid.statistics;

/**
 * The sequences of one loaded version of a model.
 *
 * @param slots the most that can be active at a time
 * @param active that have a slot now
 * @param backlog that wait for a slot now
 * @param started that have begun since the model was loaded
 * @param ended that were ended by their clients
 * @param idleEnded that were ended because no request came for too long
 * @param stateBytes the bytes that they keep between requests now
 */
public record SequenceStatistics(
    long slots,
    long active,
    long backlog,
    long started,
    long ended,
    long idleEnded,
    long stateBytes) {}
