package io.nereid.flink;

import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.factories.ModelProviderFactory;
import org.apache.flink.table.ml.ModelProvider;

/**
 * Makes the models of {@code CREATE MODEL ... WITH ('provider' = 'nereid')}. Flink finds this class
 * by the service loader and calls it while it plans a query.
 */
public final class NereidModelProviderFactory implements ModelProviderFactory {

  /** Flink calls it. */
  public NereidModelProviderFactory() {}

  @Override
  public String factoryIdentifier() {
    return "nereid";
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return Set.of(ProviderOptions.MODEL);
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    return ProviderOptions.OPTIONAL;
  }

  @Override
  public ModelProvider createModelProvider(Context context) {
    FactoryUtil.ModelProviderFactoryHelper helper =
        FactoryUtil.createModelProviderFactoryHelper(this, context);
    helper.validate();
    return new NereidModelProvider(
        ProviderOptions.of(helper.getOptions()),
        Column.all("INPUT", context.getCatalogModel().getResolvedInputSchema()),
        Column.all("OUTPUT", context.getCatalogModel().getResolvedOutputSchema()));
  }
}
