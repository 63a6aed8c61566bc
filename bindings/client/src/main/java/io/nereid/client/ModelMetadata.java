package io.nereid.client;

import java.util.List;

/**
 * What a server tells about a model.
 *
 * @param name its name
 * @param versions its versions; empty where the server has none
 * @param platform its framework or backend
 * @param inputs what it takes
 * @param outputs what it answers with
 */
public record ModelMetadata(
    String name,
    List<String> versions,
    String platform,
    List<TensorMetadata> inputs,
    List<TensorMetadata> outputs) {}
