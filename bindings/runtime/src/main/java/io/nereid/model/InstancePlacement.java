package io.nereid.model;

import java.util.OptionalInt;

/**
 * The place where one instance of a model runs.
 *
 * @param group the group that it belongs to
 * @param device the number of its GPU; empty: it runs on the processor
 */
public record InstancePlacement(InstanceGroup group, OptionalInt device) {}
