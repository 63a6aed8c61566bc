package io.nereid.model;

/**
 * The model and the place that an instance is made for.
 *
 * @param spec the model as its backend sees it, with the parameters that it sets for that: see
 *     {@link ModelSpec#forBackend}
 * @param instanceIndex which of the model's instances, from 0
 * @param placement where the instance is to run
 */
public record ModelContext(ModelSpec spec, int instanceIndex, InstancePlacement placement) {}
