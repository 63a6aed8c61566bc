package io.nereid.gpu;

import io.nereid.tensorrt.builder.BuildScope;
import io.nereid.tensorrt.builder.NetworkSource;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.javacpp.FloatPointer;
import org.bytedeco.javacpp.ShortPointer;
import org.bytedeco.tensorrt.global.nvinfer.ActivationType;
import org.bytedeco.tensorrt.global.nvinfer.DataType;
import org.bytedeco.tensorrt.global.nvinfer.ElementWiseOperation;
import org.bytedeco.tensorrt.global.nvinfer.MatrixOperation;
import org.bytedeco.tensorrt.global.nvinfer.PoolingType;
import org.bytedeco.tensorrt.global.nvinfer.ReduceOperation;
import org.bytedeco.tensorrt.global.nvinfer.ScaleMode;
import org.bytedeco.tensorrt.nvinfer.Dims64;
import org.bytedeco.tensorrt.nvinfer.IConvolutionLayer;
import org.bytedeco.tensorrt.nvinfer.INetworkDefinition;
import org.bytedeco.tensorrt.nvinfer.IPoolingLayer;
import org.bytedeco.tensorrt.nvinfer.ISoftMaxLayer;
import org.bytedeco.tensorrt.nvinfer.ITensor;
import org.bytedeco.tensorrt.nvinfer.Weights;

/**
 * Builds a graph as TensorRT's network, layer by layer, without a file.
 *
 * @param graph what it computes
 * @param half whether its layers compute in FP16; its output is of FP32
 */
record GraphNetwork(Graph graph, boolean half) implements NetworkSource {

  @Override
  public String description() {
    return "the network that Java defines";
  }

  @Override
  public void define(INetworkDefinition network, BuildScope scope) {
    List<Integer> shape = new ArrayList<>(List.of(-1));
    shape.addAll(graph.input());
    DataType type = graph.bytes() ? DataType.kUINT8 : DataType.kFLOAT;
    ITensor given = network.addInput(Graph.INPUT, type, dims(shape));
    // Bytes are cast where they are scaled.
    ITensor input = half && !graph.bytes() ? cast(network, given, type()) : given;
    List<ITensor> done = new ArrayList<>();
    for (Graph.Node node : graph.nodes()) {
      ITensor from = node.from() < 0 ? input : done.get(node.from());
      done.add(
          switch (node) {
            case Graph.Scale scale -> scale(network, scale, from);
            case Graph.Conv conv -> conv(network, conv, from);
            case Graph.Relu relu -> network.addActivation(from, ActivationType.kRELU).getOutput(0);
            case Graph.Add add ->
                network
                    .addElementWise(
                        from,
                        add.other() < 0 ? input : done.get(add.other()),
                        ElementWiseOperation.kSUM)
                    .getOutput(0);
            case Graph.MaxPool pool -> pool(network, pool, from);
            // Over rows and columns, the dimensions 2 and 3.
            case Graph.Average average ->
                network.addReduce(from, ReduceOperation.kAVG, 1 << 2 | 1 << 3, false).getOutput(0);
            case Graph.Dense dense -> dense(network, dense, from);
            case Graph.SoftMax softMax -> softMax(network, from);
          });
    }
    ITensor output = half ? cast(network, done.getLast(), DataType.kFLOAT) : done.getLast();
    output.setName(Graph.OUTPUT);
    network.markOutput(output);
  }

  private DataType type() {
    return half ? DataType.kHALF : DataType.kFLOAT;
  }

  private static ITensor cast(INetworkDefinition network, ITensor from, DataType type) {
    return network.addCast(from, type).getOutput(0);
  }

  private ITensor scale(INetworkDefinition network, Graph.Scale scale, ITensor from) {
    return network
        .addScale(
            cast(network, from, type()),
            ScaleMode.kUNIFORM,
            weights(scale.shift()),
            weights(scale.scale()),
            weights(1f))
        .getOutput(0);
  }

  private ITensor conv(INetworkDefinition network, Graph.Conv conv, ITensor from) {
    IConvolutionLayer layer =
        network.addConvolutionNd(
            from,
            conv.channels(),
            square(conv.kernel()),
            weights(conv.weights()),
            weights(conv.bias()));
    layer.setStrideNd(square(conv.stride()));
    layer.setPaddingNd(square(conv.padding()));
    return layer.getOutput(0);
  }

  private static ITensor pool(INetworkDefinition network, Graph.MaxPool pool, ITensor from) {
    IPoolingLayer layer = network.addPoolingNd(from, PoolingType.kMAX, square(pool.kernel()));
    layer.setStrideNd(square(pool.stride()));
    layer.setPaddingNd(square(pool.padding()));
    return layer.getOutput(0);
  }

  private ITensor dense(INetworkDefinition network, Graph.Dense dense, ITensor from) {
    ITensor matrix =
        network
            .addConstant(dims(List.of(dense.outputs(), dense.inputs())), weights(dense.weights()))
            .getOutput(0);
    ITensor bias =
        network.addConstant(dims(List.of(1, dense.outputs())), weights(dense.bias())).getOutput(0);
    ITensor product =
        network
            .addMatrixMultiply(from, MatrixOperation.kNONE, matrix, MatrixOperation.kTRANSPOSE)
            .getOutput(0);
    return network.addElementWise(product, bias, ElementWiseOperation.kSUM).getOutput(0);
  }

  private static ITensor softMax(INetworkDefinition network, ITensor from) {
    ISoftMaxLayer layer = network.addSoftMax(from);
    layer.setAxes(1 << 1);
    return layer.getOutput(0);
  }

  private static Dims64 square(int size) {
    return dims(List.of(size, size));
  }

  private static Dims64 dims(List<Integer> values) {
    Dims64 dims = new Dims64();
    dims.nbDims(values.size());
    for (int i = 0; i < values.size(); i++) {
      dims.d(i, values.get(i));
    }
    return dims;
  }

  /** TensorRT reads them when it builds; the builder's scope of JavaCPP keeps them until then. */
  private Weights weights(float... values) {
    Weights weights = new Weights();
    weights.type(type());
    weights.values(half ? new ShortPointer(halves(values)) : new FloatPointer(values));
    weights.count(values.length);
    return weights;
  }

  private static short[] halves(float[] values) {
    short[] halves = new short[values.length];
    for (int i = 0; i < values.length; i++) {
      halves[i] = Float.floatToFloat16(values[i]);
    }
    return halves;
  }
}
